// The leader's work: watches every service at its source and reports what changes.
import type { Clock } from '../core/clock.ts';
import type { DiscoveryUpdate, ResumePoint } from '../core/discovery-update.ts';
import { foldEvent } from './fold.ts';
import type { DiscoverySource, SourceEvent, Watch } from './source.ts';

export interface AskerOptions {
  readonly sources: readonly DiscoverySource[];
  readonly holdLastGoodMs: number;
  readonly clock: Clock;
  /** Called for every answer and every failure. */
  readonly onUpdate: (update: DiscoveryUpdate) => void;
}

export class Asker {
  readonly #options: AskerOptions;
  readonly #states = new Map<string, ResumePoint>();
  readonly #watches: Watch[] = [];

  constructor(options: AskerOptions) {
    this.#options = options;
  }

  /** Begins to ask for every service, from where it was left. */
  start(services: readonly ResumePoint[]): void {
    for (const state of services) {
      const { service, index } = state.status;
      const source = this.#options.sources.find(({ name }) => name === state.status.source);
      if (source === undefined) continue;
      this.#states.set(service, state);
      const onEvent = (event: SourceEvent): void => this.#fold(source, service, event);
      this.#watches.push(source.watch({ service, resumeIndex: index, onEvent }));
    }
  }

  /** Stops asking; nothing is reported after it. */
  async stop(): Promise<void> {
    for (const watch of this.#watches.splice(0)) watch.stop();
    await Promise.all(this.#options.sources.map((source) => source.stop()));
  }

  #fold(source: DiscoverySource, service: string, event: SourceEvent): void {
    const before = this.#states.get(service);
    if (before === undefined) return;
    const { clock, holdLastGoodMs, onUpdate } = this.#options;
    const { pool, ...update } = foldEvent(before, event, {
      accept: source.accept,
      wallMs: clock.wallMs(),
      holdLastGoodMs,
    });
    this.#states.set(service, { status: update.status, pool });
    onUpdate(update);
  }
}

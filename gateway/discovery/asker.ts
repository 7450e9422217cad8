// The leader's work: watches every service at its source and reports what changes.
import type { Clock } from '../core/clock.ts';
import type { DiscoveryUpdate, ResumePoint } from '../core/discovery-update.ts';
import { foldEvent } from './fold.ts';
import type { DiscoverySource, SourceEvent, Watch } from './source.ts';

export interface AskerOptions {
  /** Makes a source when it is first used. */
  readonly sourceOf: (name: string) => DiscoverySource | undefined;
  readonly holdLastGoodMs: number;
  readonly clock: Clock;
  /** Called for every answer and every failure. */
  readonly onUpdate: (update: DiscoveryUpdate) => void;
}

interface Watched {
  state: ResumePoint;
  readonly source: DiscoverySource;
  readonly watch: Watch;
}

export class Asker {
  readonly #options: AskerOptions;
  readonly #sources = new Map<string, DiscoverySource>();
  readonly #watched = new Map<string, Watched>();

  constructor(options: AskerOptions) {
    this.#options = options;
  }

  /**
   * Asks for these services and no others, from where each was left. One that is asked for already goes on undisturbed,
   * unless its source is another one now, or lists what the configuration says.
   */
  ask(services: readonly ResumePoint[]): void {
    const wanted = new Set(services.map(({ status }) => status.service));
    for (const [service, { watch }] of this.#watched) {
      if (wanted.has(service)) continue;
      watch.stop();
      this.#watched.delete(service);
    }
    for (const state of services) {
      const { service, source: name } = state.status;
      const known = this.#watched.get(service);
      if (known !== undefined && known.source.name === name && name !== 'static') continue;
      known?.watch.stop();
      this.#watched.delete(service);
      const source = this.#source(name);
      if (source !== undefined) this.#begin(state, source);
    }
  }

  /** Stops asking; nothing is reported after it. */
  async stop(): Promise<void> {
    for (const { watch } of this.#watched.values()) watch.stop();
    this.#watched.clear();
    await Promise.all([...this.#sources.values()].map((source) => source.stop()));
  }

  #begin(state: ResumePoint, source: DiscoverySource): void {
    const { service, index } = state.status;
    const onEvent = (event: SourceEvent): void => this.#fold(service, event);
    const watch = source.watch({ service, resumeIndex: index, hasPool: state.pool.size > 0, onEvent });
    this.#watched.set(service, { state, source, watch });
  }

  #source(name: string): DiscoverySource | undefined {
    const source = this.#sources.get(name) ?? this.#options.sourceOf(name);
    if (source !== undefined) this.#sources.set(name, source);
    return source;
  }

  #fold(service: string, event: SourceEvent): void {
    const watched = this.#watched.get(service);
    if (watched === undefined) return;
    const { clock, holdLastGoodMs, onUpdate } = this.#options;
    const { accept } = watched.source;
    const { pool, ...update } = foldEvent(watched.state, event, { accept, wallMs: clock.wallMs(), holdLastGoodMs });
    watched.state = { status: update.status, pool };
    onUpdate(update);
  }
}

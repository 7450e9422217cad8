// Shows the same again and again until a signal: on a screen that is drawn over, or as one block after the other.
import { setTimeout as delay } from 'node:timers/promises';
import { printable } from '../core/printable.ts';
import type { AdminReply } from './admin-client.ts';
import { write } from './output.ts';
import { BEGIN_SCREEN, drawn, END_SCREEN } from './terminal.ts';
import { untilSignal } from './until-signal.ts';

/** What is to be shown; or why there is nothing, for now (`away`) or for good (`refused`). */
export type Shown =
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
  | { readonly kind: 'away' | 'refused'; readonly why: string };

export interface WatchOptions {
  readonly ask: (signal: AbortSignal) => Promise<AdminReply>;
  readonly show: (reply: AdminReply) => Shown;
  readonly isScreen: boolean;
}

const PERIOD_MS = 1000;
const ROWS = 24;

export class UpstreamsWatch {
  readonly #options: WatchOptions;
  /** What was shown last. */
  #lines: readonly string[] = [];
  /** Why there is nothing new; null while there is. */
  #awayWhy: string | null = null;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Resolves with the exit code: 0 after a signal, or when nobody reads it any more. */
  async run(): Promise<number> {
    const ended = new AbortController();
    void untilSignal().then(() => ended.abort());
    const { isScreen } = this.#options;
    if (isScreen) await write(BEGIN_SCREEN);
    try {
      return await this.#repeat(ended.signal);
    } finally {
      if (isScreen) await write(END_SCREEN);
    }
  }

  async #repeat(signal: AbortSignal): Promise<number> {
    while (!signal.aborted) {
      const dueMs = performance.now() + PERIOD_MS;
      const reply = await this.#options.ask(signal);
      if (signal.aborted) break;
      const shown = this.#options.show(reply);
      if (shown.kind === 'refused') {
        process.stderr.write(`weir upstreams: ${printable(shown.why)}\n`);
        return 1;
      }
      if (!(await this.#update(shown))) break;
      await delay(Math.max(0, dueMs - performance.now()), undefined, { signal }).catch(() => undefined);
    }
    return 0;
  }

  /** False when nobody reads it any more. */
  #update(shown: Shown): Promise<boolean> {
    const isBack = shown.kind === 'lines' && this.#awayWhy !== null;
    const isNews = shown.kind !== 'lines' && this.#awayWhy === null;
    this.#awayWhy = shown.kind === 'lines' ? null : printable(shown.why);
    if (shown.kind === 'lines') this.#lines = shown.lines;
    if (this.#options.isScreen) return this.#draw();
    if (isNews) process.stderr.write(`weir upstreams: ${this.#awayWhy}; asking again every second\n`);
    if (isBack) process.stderr.write('weir upstreams: it answers again\n');
    return shown.kind === 'lines' ? write(this.#lines.map((line) => `${line}\n`).join('')) : Promise.resolve(true);
  }

  #draw(): Promise<boolean> {
    const note = this.#awayWhy === null ? [] : [`${this.#awayWhy}; asking again every second`];
    const before = note.length > 0 && this.#lines.length > 0 ? ['as it was before:', ''] : [];
    return write(drawn([...note, ...before, ...this.#lines], process.stdout.rows ?? ROWS));
  }
}

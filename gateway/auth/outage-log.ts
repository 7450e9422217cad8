// Says that another service cannot be used and that it can again, each once, and seldom where it changes often.
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';

/** The least time between two lines: a client may be able to make the service fail whenever it likes. */
const PAUSE_MS = 30_000;

export interface OutageLogOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** They say which service it is. */
  readonly fields: Readonly<Record<string, string>>;
}

interface Outage {
  readonly error: string;
  readonly consequence: string;
}

export class OutageLog {
  readonly #options: OutageLogOptions;
  #outage: Outage | null = null;
  /** What the last line said. */
  #isToldOut = false;
  #toldMs = Number.NEGATIVE_INFINITY;
  /** Changes since the last line. */
  #flips = 0;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  get isOut(): boolean {
    return this.#outage !== null;
  }

  failed(error: string, consequence: string): void {
    if (this.#outage === null) this.#flips++;
    this.#outage = { error, consequence };
    this.tell();
  }

  succeeded(): void {
    if (this.#outage !== null) this.#flips++;
    this.#outage = null;
    this.tell();
  }

  /**
   * Says what has changed since the last line if that is 30 s old, with the count of changes (`flips`) where there were several.
   * Who hears of the service seldom calls it now and then.
   */
  tell(): void {
    const outage = this.#outage;
    if (this.isOut === this.#isToldOut) return;
    const { clock, log, fields } = this.#options;
    const nowMs = clock.nowMs();
    if (nowMs - this.#toldMs < PAUSE_MS) return;
    const counted = this.#flips > 1 ? { ...fields, flips: this.#flips } : fields;
    this.#isToldOut = this.isOut;
    this.#toldMs = nowMs;
    this.#flips = 0;
    if (outage === null) log.info(counted, 'the service for authentication answers again');
    else log.warn({ ...counted, error: outage.error }, outage.consequence);
  }
}

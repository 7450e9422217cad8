// The value of the Date field, made once a second.
import type { Clock } from '../../core/clock.ts';
import type { Sweep } from '../sweep.ts';

export class HttpDate {
  readonly #clock: Clock;
  readonly #sweep: Pick<Sweep, 'nowMs'>;
  #lookedMs = -1;
  #second = -1;
  #value = '';

  constructor(clock: Clock, sweep: Pick<Sweep, 'nowMs'>) {
    this.#clock = clock;
    this.#sweep = sweep;
  }

  /** The time of day in the form of RFC 9110 section 5.6.7, as of the sweep's last look. */
  get value(): string {
    if (this.#lookedMs !== this.#sweep.nowMs) this.#look();
    return this.#value;
  }

  #look(): void {
    this.#lookedMs = this.#sweep.nowMs;
    const second = Math.floor(this.#clock.wallMs() / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#value = new Date(second * 1000).toUTCString();
  }
}

// The value of the Date field, made once a second.
import type { Clock } from '../../core/clock.ts';

export class HttpDate {
  readonly #clock: Clock;
  #second = -1;
  #value = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time of day in the form of RFC 9110 section 5.6.7. */
  get value(): string {
    const second = Math.floor(this.#clock.wallMs() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#value = new Date(second * 1000).toUTCString();
    }
    return this.#value;
  }
}

// Deadlines of thousands of connections on one timer: looked at a few times a second, never armed or cleared.
import type { Clock } from '../core/clock.ts';

/** Something with a deadline. */
export interface Sweepable {
  /** Called now and then with the time; acts when a deadline of its own has passed. */
  sweep(nowMs: number): void;
}

/** How often deadlines are looked at: they are kept this exactly. */
const INTERVAL_MS = 100;

export class Sweep {
  readonly #clock: Clock;
  readonly #members = new Set<Sweepable>();
  #timer: NodeJS.Timeout | undefined;
  /** The time of the last look: good enough to set a deadline by, and cheaper than the clock. */
  nowMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.nowMs = clock.nowMs();
  }

  add(member: Sweepable): void {
    if (this.#members.size === 0) this.#start();
    this.#members.add(member);
  }

  remove(member: Sweepable): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#stop();
  }

  #start(): void {
    this.nowMs = this.#clock.nowMs();
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    this.nowMs = this.#clock.nowMs();
    for (const member of this.#members) member.sweep(this.nowMs);
  }
}

// Lets a few pass at a time, where many want to and none for long.

/** The others queue, so that the deadline of a question begins when it is really asked. */
export class Turnstile {
  #free: number;
  readonly #urgent: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(lanes: number) {
    this.#free = lanes;
  }

  /** Runs `pass` when a lane is free; the urgent ones before all others. */
  async through<T>(pass: () => Promise<T>, isUrgent: boolean): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => (isUrgent ? this.#urgent : this.#waiting).push(resolve));
    try {
      return await pass();
    } finally {
      const next = this.#urgent.shift() ?? this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

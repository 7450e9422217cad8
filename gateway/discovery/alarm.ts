// A rest that somebody else may end, also before it begins.

/** `news`: it has changed; `perhaps`: it may have. */
export type AlarmReason = 'news' | 'perhaps';

/** The alarm clock of one sleeper. */
export class Alarm {
  #reason: AlarmReason | null = null;
  #wake: (() => void) | undefined;

  /** Ends the rest, or the next one if there is none at present. */
  ring(reason: AlarmReason): void {
    if (this.#reason !== 'news') this.#reason = reason;
    this.#wake?.();
  }

  /** Forgets an alarm that nobody has slept through: what it was about is going to be seen. */
  clear(): void {
    this.#reason = null;
  }

  /** Resolves with why it rang, or with null after `ms` milliseconds or when `signal` is aborted. */
  async rest(ms: number, signal: AbortSignal): Promise<AlarmReason | null> {
    if (this.#reason === null && ms > 0 && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      this.#wake = resolve;
      signal.addEventListener('abort', this.#wake, { once: true });
      await promise;
      clearTimeout(timer);
      signal.removeEventListener('abort', this.#wake);
      this.#wake = undefined;
    }
    const reason = this.#reason;
    this.#reason = null;
    return reason;
  }
}

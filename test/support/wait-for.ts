// Waits for a condition by asking again and again, with a limit.
import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Milliseconds after which the wait fails. */
  readonly limitMs: number;
  /** What is waited for, for the message of the failure. */
  readonly what: string;
}

const STEP_MS = 5;

/** Resolves with the first value of `condition` that is neither false nor undefined; rejects after `limitMs`. */
export async function waitFor<T>(
  condition: () => T | false | undefined | Promise<T | false | undefined>,
  { limitMs, what }: WaitOptions,
): Promise<T> {
  const untilMs = performance.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > untilMs) throw new Error(`waited ${limitMs} ms in vain for ${what}`);
    await delay(STEP_MS);
  }
}

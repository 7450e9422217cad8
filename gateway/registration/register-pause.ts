// Waiting that ends early when nobody needs it any more.
import { setTimeout as delay } from 'node:timers/promises';

/** Waits `ms` milliseconds, or until `signal` is aborted; leaves no timer behind and never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

// Waits for a condition of a drill.
import { setTimeout as delay } from 'node:timers/promises';

const LIMIT_MS = 30_000;

/** Resolves when the condition holds; an error after half a minute. */
export async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const beganMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - beganMs > LIMIT_MS) throw new Error(`waited in vain for ${what}`);
    await delay(20);
  }
}

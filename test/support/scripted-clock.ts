// A clock whose time and chance the test decides.
import type { Clock } from '../../gateway/core/clock.ts';

export interface ScriptedClock extends Clock {
  advance(ms: number): void;
}

/** Starts at 1000 ms; `random` always gives the same number. */
export function createScriptedClock(random = 0.5): ScriptedClock {
  let now = 1000;
  return {
    nowMs: () => now,
    wallMs: () => 1_700_000_000_000 + now,
    random: () => random,
    advance(ms) {
      now += ms;
    },
  };
}

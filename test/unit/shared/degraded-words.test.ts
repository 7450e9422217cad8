import { describe, expect, it } from 'vitest';
import {
  DEGRADED_REASONS,
  DEGRADED_WORDS,
  type DegradedReason,
  degradedOf,
  enterDegraded,
  leaveDegraded,
} from '../../../gateway/shared/degraded-words.ts';

const NOON_MS = Date.UTC(2027, 0, 1, 12);

/** One service, as anybody sees it; times are seconds from noon on. */
function service(at = 0) {
  const words = new Int32Array(new SharedArrayBuffer(4 * (at + DEGRADED_WORDS)));
  const wall = (seconds: number): number => NOON_MS + 1000 * seconds;
  return {
    words,
    enter: (seconds: number, reason: DegradedReason = 'unreachable', isWavering = true) => {
      return enterDegraded(words, at, { reason, wallMs: wall(seconds), isWavering });
    },
    leave: (seconds: number) => leaveDegraded(words, at, wall(seconds)),
    state: () => degradedOf(words, at),
  };
}

describe('a degraded service', () => {
  it('is entered once, whoever comes first, and keeps its first reason and time', () => {
    const { enter, state } = service();
    expect(state()).toBeNull();
    expect([enter(0.4, 'breaker'), enter(0.5, 'empty'), enter(60, 'empty')]).toEqual([true, false, false]);
    expect(state()).toEqual({ sinceMs: NOON_MS, reason: 'breaker' });
  });

  it('is left once', () => {
    const { enter, leave, state } = service();
    enter(0);
    expect([leave(10), leave(10)]).toEqual([true, false]);
    expect(state()).toBeNull();
    expect(enter(20, 'status-5xx')).toBe(true);
    expect(state()).toEqual({ sinceMs: NOON_MS + 20_000, reason: 'status-5xx' });
  });

  it('is not left by a good answer before it ever was entered', () => {
    expect(service().leave(0)).toBe(false);
  });

  it('that wavers is left only after two seconds without a degraded answer', () => {
    const { enter, leave, state } = service();
    const seen: [second: number, what: string][] = [];
    for (let second = 0; second < 10; second++) {
      if (second % 2 === 0 && enter(second)) seen.push([second, 'entered']);
      if (leave(second + 0.5)) seen.push([second, 'left']);
    }
    expect(seen).toEqual([[0, 'entered']]);
    expect([leave(9.9), leave(10.1), state()]).toEqual([false, true, null]);
  });

  it.each([
    ['empty', false],
    ['maintenance', false],
  ] as const)('for %s is left at once when it does not waver', (reason, isWavering) => {
    const { enter, leave } = service();
    enter(0, reason, isWavering);
    expect(leave(0.1)).toBe(true);
  });

  it('is left when the clock was set back: no time of calm can be told', () => {
    const { enter, leave } = service();
    enter(3600);
    expect(leave(0)).toBe(true);
  });

  it.each(DEGRADED_REASONS)('says that the reason is %s, wavering or not', (reason) => {
    for (const isWavering of [true, false]) {
      const { enter, state } = service();
      enter(1, reason, isWavering);
      expect(state()?.reason).toBe(reason);
    }
  });

  it.each([2030, 2040, 2100])('knows its times in the year %d', (year) => {
    const words = new Int32Array(DEGRADED_WORDS);
    const wallMs = Date.UTC(year, 6, 1);
    enterDegraded(words, 0, { reason: 'breaker', wallMs, isWavering: true });
    expect(degradedOf(words, 0)?.sinceMs).toBe(wallMs);
    expect(leaveDegraded(words, 0, wallMs + 1500)).toBe(false);
    expect(leaveDegraded(words, 0, wallMs + 2000)).toBe(true);
  });

  it('touches no other words', () => {
    const { words, enter, leave } = service(2);
    words[0] = 7;
    words[1] = 8;
    enter(0);
    leave(9);
    expect([words[0], words[1]]).toEqual([7, 8]);
  });
});

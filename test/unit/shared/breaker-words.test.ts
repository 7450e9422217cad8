import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BreakerPolicy } from '../../../gateway/resilience/breaker.ts';
import {
  admit,
  BREAKER_WORDS,
  breakerEpoch,
  breakerOf,
  openBreaker,
  PASSED,
  probeEnded,
  REFUSED,
  timesOpened,
} from '../../../gateway/shared/breaker-words.ts';

const POLICY: BreakerPolicy = { failurePercent: 50, minRequests: 20, windowMs: 10_000, openMs: 5000, probes: 3 };
const AT = 1;

function breaker(changes: Partial<BreakerPolicy> = {}) {
  const words = new Int32Array(new SharedArrayBuffer(4 * (AT + BREAKER_WORDS)));
  const policy = { ...POLICY, ...changes };
  return {
    words,
    admit: (nowMs: number) => admit(words, AT, { policy, nowMs }),
    open: (nowMs: number) => openBreaker(words, AT, { policy, nowMs }),
    end: (token: number, isGood: boolean | null, nowMs: number) => {
      return probeEnded(words, AT, { policy, nowMs, token, isGood });
    },
    view: (nowMs: number) => breakerOf(words, AT, nowMs),
  };
}

/** What admissions gave, in words. */
function said(tokens: readonly number[]): string[] {
  return tokens.map((token) => (token === PASSED ? 'passed' : token === REFUSED ? 'refused' : 'probe'));
}

describe('a breaker', () => {
  it('is closed at first and lets everybody pass', () => {
    const { admit, view } = breaker();
    expect(said([admit(0), admit(1e9)])).toEqual(['passed', 'passed']);
    expect(view(0)).toEqual({ state: 'closed', untilMs: null });
  });

  it('that was opened refuses for its time, then lets exactly so many probes through', () => {
    const { admit, open, view } = breaker();
    expect([open(1000), open(1000)]).toEqual([true, false]);
    expect(view(1000)).toEqual({ state: 'open', untilMs: 6000 });
    expect(said([admit(1000), admit(5999)])).toEqual(['refused', 'refused']);
    expect(view(6000)).toEqual({ state: 'half_open', untilMs: null });
    expect(said([6000, 6000, 6001, 6001, 10_999].map(admit))).toEqual([
      'probe',
      'probe',
      'probe',
      'refused',
      'refused',
    ]);
  });

  it('closes when all probes were good, whoever sent them', () => {
    const { admit, open, end, view } = breaker();
    open(0);
    const probes = [5000, 5000, 5000].map(admit);
    expect(probes.map((token) => end(token, true, 5100))).toEqual([null, null, 'closed']);
    expect(view(5100)).toEqual({ state: 'closed', untilMs: null });
    expect(said([admit(5100)])).toEqual(['passed']);
  });

  it('opens again at the first bad probe; those that come later change nothing', () => {
    const { words, admit, open, end, view } = breaker();
    open(0);
    const [first = 0, second = 0, third = 0] = [5000, 5000, 5000].map(admit);
    expect(end(first, true, 5050)).toBeNull();
    expect(end(second, false, 5100)).toBe('opened');
    expect(view(5100)).toEqual({ state: 'open', untilMs: 10_100 });
    expect([end(third, false, 5200), end(third, true, 10_200)]).toEqual([null, null]);
    expect(view(5200)).toEqual({ state: 'open', untilMs: 10_100 });
    expect(timesOpened(words, AT)).toBe(2);
    expect(said([10_100, 10_100, 10_100, 10_100].map(admit))).toEqual(['probe', 'probe', 'probe', 'refused']);
  });

  it('gives the place of a probe without a verdict to another', () => {
    const { admit, open, end } = breaker({ probes: 1 });
    open(0);
    const probe = admit(5000);
    expect(said([admit(5001)])).toEqual(['refused']);
    expect(end(probe, null, 5100)).toBeNull();
    const next = admit(5100);
    expect(said([next, admit(5100)])).toEqual(['probe', 'refused']);
    expect(end(next, true, 5200)).toBe('closed');
  });

  it('begins anew when its probes do not come back: the stuck ones are void', () => {
    const { admit, open, end, view } = breaker();
    open(0);
    const stuck = [5000, 5000, 5000].map(admit);
    expect(said([admit(9999)])).toEqual(['refused']);
    const fresh = [10_000, 10_000, 10_000, 10_000].map(admit);
    expect(said(fresh)).toEqual(['probe', 'probe', 'probe', 'refused']);
    expect(stuck.map((token) => end(token, true, 10_100))).toEqual([null, null, null]);
    expect(stuck.map((token) => end(token, null, 10_100))).toEqual([null, null, null]);
    expect(view(10_100).state).toBe('half_open');
    expect(fresh.slice(0, 3).map((token) => end(token, true, 10_200))).toEqual([null, null, 'closed']);
    expect(stuck.map((token) => end(token, false, 10_300))).toEqual([null, null, null]);
    expect(view(10_300).state).toBe('closed');
  });

  it('has a new epoch with every time that it closes, and only then', () => {
    const { words, admit, open, end } = breaker({ probes: 1 });
    open(0);
    end(admit(5000), false, 5000);
    expect(breakerEpoch(words, AT)).toBe(0);
    end(admit(10_000), true, 10_000);
    expect(breakerEpoch(words, AT)).toBe(1);
  });

  it.each([1, 2, 3])('tells probes from passed requests after %d years', (years) => {
    const nowMs = years * 365 * 86_400_000;
    const { admit, open, end } = breaker({ probes: 1 });
    open(nowMs);
    expect(said([admit(nowMs + 4900)])).toEqual(['refused']);
    const probe = admit(nowMs + 5000);
    expect([said([probe]), said([admit(nowMs + 5000)])]).toEqual([['probe'], ['refused']]);
    expect(end(probe, true, nowMs + 5000)).toBe('closed');
  });

  it('lets up to 1000 probes through', () => {
    const { admit, open, end } = breaker({ probes: 1000 });
    open(0);
    const probes = Array.from({ length: 1001 }, () => admit(5000));
    expect(said(probes).filter((word) => word === 'probe')).toHaveLength(1000);
    const changes = probes.slice(0, 1000).map((token) => end(token, true, 5000));
    expect(changes.filter((change) => change !== null)).toEqual(['closed']);
    expect(changes.at(-1)).toBe('closed');
  });

  it('touches no other words', () => {
    const { words, admit, open, end } = breaker({ probes: 1 });
    words[0] = 7;
    open(0);
    end(admit(5000), true, 5000);
    expect(words[0]).toBe(7);
  });

  it('does what its rules say, in any order of events', () => {
    const events = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('open' as const) }),
        fc.record({ kind: fc.constant('admit' as const) }),
        fc.record({ kind: fc.constant('admit' as const) }),
        fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 1500 }) }),
        fc.record({
          kind: fc.constant('end' as const),
          which: fc.nat(),
          isGood: fc.constantFrom(true, true, false, null),
        }),
      ),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), events, (probes, all) => {
        const real = breaker({ probes, openMs: 1000 });
        const model = new ModelBreaker(probes, 1000);
        const running: { token: number; time: number }[] = [];
        let nowMs = 500;
        for (const event of all) {
          if (event.kind === 'wait') nowMs += event.ms;
          if (event.kind === 'open') expect(real.open(nowMs)).toBe(model.open(nowMs));
          if (event.kind === 'admit') {
            const token = real.admit(nowMs);
            expect(said([token])).toEqual([model.admit(nowMs)]);
            if (token !== PASSED && token !== REFUSED) running.push({ token, time: model.time });
          }
          if (event.kind === 'end' && running.length > 0) {
            const [probe] = running.splice(event.which % running.length, 1);
            if (probe === undefined) continue;
            expect(real.end(probe.token, event.isGood, nowMs)).toBe(model.end(probe.time, event.isGood, nowMs));
          }
          expect(real.view(nowMs).state).toBe(model.stateAt(nowMs));
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** The rules in the plainest words; `time` numbers the half-open times. */
class ModelBreaker {
  readonly #probes: number;
  readonly #openMs: number;
  #state: 'closed' | 'open' | 'half_open' = 'closed';
  #untilMs = 0;
  #sent = 0;
  #good = 0;
  time = 0;

  constructor(probes: number, openMs: number) {
    this.#probes = probes;
    this.#openMs = openMs;
  }

  stateAt(nowMs: number): string {
    return this.#state === 'open' && nowMs >= this.#untilMs ? 'half_open' : this.#state;
  }

  open(nowMs: number): boolean {
    if (this.#state !== 'closed') return false;
    this.#enter('open', nowMs);
    return true;
  }

  admit(nowMs: number): 'passed' | 'refused' | 'probe' {
    if (this.#state === 'closed') return 'passed';
    if (nowMs >= this.#untilMs) this.#enter('half_open', nowMs);
    if (this.#state === 'open' || this.#sent === this.#probes) return 'refused';
    this.#sent++;
    return 'probe';
  }

  end(time: number, isGood: boolean | null, nowMs: number): 'opened' | 'closed' | null {
    if (this.#state !== 'half_open' || time !== this.time) return null;
    if (isGood === null) this.#sent--;
    else if (!isGood) this.#enter('open', nowMs);
    else if (++this.#good === this.#probes) this.#enter('closed', nowMs);
    return this.#state === 'half_open' ? null : this.#state === 'open' ? 'opened' : 'closed';
  }

  #enter(state: 'closed' | 'open' | 'half_open', nowMs: number): void {
    this.#state = state;
    this.#untilMs = Math.ceil((nowMs + this.#openMs) / 100) * 100;
    if (state !== 'half_open') return;
    this.time++;
    this.#sent = 0;
    this.#good = 0;
  }
}

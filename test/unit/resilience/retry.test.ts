import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideRetry,
  type FailedAttempt,
  isIdempotent,
  isWithinBudget,
  type RetryPolicy,
} from '../../../gateway/resilience/retry.ts';
import { allocateServiceCell, ServiceCell } from '../../../gateway/shared/service-cell.ts';

const POLICY: RetryPolicy = { attempts: 3, on: ['connect', 'reset', 'timeout'], budgetPercent: 20, minPerSecond: 3 };
const FAILED: FailedAttempt = { reason: 'reset', attempts: 1, sent: true, repeatable: true, replayable: true };
const YES_NO = [true, false];
const REASONS = ['connect', 'reset', 'timeout', 'status'] as const;

describe('a failed attempt', () => {
  it.each([
    ['an idempotent request that was sent', {}, 'yes'],
    ['a refused connection, whatever the method', { reason: 'connect', sent: false, repeatable: false }, 'yes'],
    ['a POST of which bytes were sent (case 22)', { repeatable: false }, 'method'],
    ['a body that is not at hand any more', { replayable: false }, 'body'],
    ['a body that is gone of a request that was not sent', { sent: false, replayable: false }, 'body'],
    ['the last but one of its attempts', { attempts: 2 }, 'yes'],
    ['the last of its attempts', { attempts: 3 }, 'no'],
    ['the last attempt of a POST', { attempts: 3, repeatable: false }, 'no'],
    ['a status of a repeatable request', { reason: 'status' }, 'yes'],
    ['a status of a POST', { reason: 'status', repeatable: false }, 'method'],
  ] satisfies [string, Partial<FailedAttempt>, string][])('is made again for %s: %o → %s', (_what, part, expected) => {
    expect(decideRetry(POLICY, { ...FAILED, ...part })).toBe(expected);
  });

  it('is decided alike for every reason that the policy names: by what was sent, the method and the body', () => {
    for (const reason of REASONS) {
      const decisions = YES_NO.flatMap((sent) =>
        YES_NO.flatMap((repeatable) =>
          YES_NO.map((replayable) => decideRetry(POLICY, { reason, attempts: 1, sent, repeatable, replayable })),
        ),
      );
      expect(decisions).toEqual(['yes', 'body', 'method', 'method', 'yes', 'body', 'yes', 'body']);
    }
  });

  it('is not made again, nor counted as denied, for a reason that the route does not name', () => {
    for (const reason of ['connect', 'reset', 'timeout'] as const) {
      const policy = { ...POLICY, on: POLICY.on.filter((named) => named !== reason) };
      expect(decideRetry(policy, { ...FAILED, reason, repeatable: false })).toBe('no');
    }
  });

  it('of a status is made again without being named: the caller asks for the statuses of the route only', () => {
    expect(decideRetry({ ...POLICY, on: [] }, { ...FAILED, reason: 'status' })).toBe('yes');
  });

  it('is never made again with one attempt in all', () => {
    expect(REASONS.map((reason) => decideRetry({ ...POLICY, attempts: 1 }, { ...FAILED, reason }))).toEqual(
      REASONS.map(() => 'no'),
    );
  });

  it('may be repeated for the methods of RFC 9110 only', () => {
    const methods = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'POST', 'PATCH', 'CONNECT', 'get', 'BREW'];
    expect(methods.filter(isIdempotent)).toEqual(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);
  });
});

describe('the budget of retries', () => {
  it.each([
    ['no request', 0, 29, true],
    ['the floor is spent', 0, 30, false],
    ['few requests: the floor counts', 100, 29, true],
    ['few requests: the floor is spent', 100, 30, false],
    ['the share is as much as the floor', 150, 29, true],
    ['many requests: the share counts', 1000, 199, true],
    ['many requests: the share is spent', 1000, 200, false],
  ])('%s: after %d requests and %d retries one more is allowed: %s', (_what, requests, retries, expected) => {
    expect(isWithinBudget(POLICY, requests, retries)).toBe(expected);
  });

  it('of nothing allows nothing, and "off" allows everything', () => {
    const none = { ...POLICY, budgetPercent: 0, minPerSecond: 0 };
    expect(isWithinBudget(none, 1000, 0)).toBe(false);
    expect(isWithinBudget({ ...none, budgetPercent: Number.POSITIVE_INFINITY }, 0, 1e9)).toBe(true);
  });
});

/** What a service gets when every attempt fails; requests come evenly, from several workers in turn. */
function outage({ policy, perSecond, seconds, workers }: Outage) {
  const place = allocateServiceCell(workers);
  const cells = Array.from({ length: workers }, (_, lane) => new ServiceCell(place, lane));
  const attemptsAt: number[] = [];
  const requests = Math.floor(perSecond * seconds);
  for (let number = 0; number < requests; number++) {
    const cell = cells[number % workers];
    if (cell === undefined) throw new Error('no worker');
    const nowMs = (number * 1000) / perSecond;
    for (let attempt = 1; attempt <= policy.attempts; attempt++) {
      cell.countForBudget(nowMs, attempt > 1);
      attemptsAt.push(nowMs);
      if (decideRetry(policy, { ...FAILED, reason: 'connect', sent: false, attempts: attempt }) !== 'yes') break;
      const { requests: seen, retries } = cell.budgetWindow(nowMs);
      if (!isWithinBudget(policy, seen, retries)) break;
    }
  }
  const between = (fromSeconds: number, toSeconds: number) => {
    return attemptsAt.filter((ms) => ms >= fromSeconds * 1000 && ms < toSeconds * 1000).length;
  };
  return { requests, attempts: attemptsAt.length, between };
}

interface Outage {
  readonly policy: RetryPolicy;
  readonly perSecond: number;
  readonly seconds: number;
  readonly workers: number;
}

describe('when every attempt fails', () => {
  it.each([
    [1000, 1],
    [1000, 4],
    [5000, 8],
    [20_000, 3],
  ])(
    '%d requests a second over %d workers make a fifth more attempts at most, after the floor',
    (perSecond, workers) => {
      const { requests, attempts, between } = outage({ policy: POLICY, perSecond, seconds: 30, workers });
      expect(attempts).toBeLessThanOrEqual(1.2 * requests + 30);
      expect(attempts).toBeGreaterThan(1.15 * requests);
      for (let second = 10; second < 30; second += 2) {
        expect(between(second, second + 2)).toBeLessThanOrEqual(1.25 * 2 * perSecond);
      }
    },
  );

  it('few requests have the floor: three retries a second', () => {
    const retriesOf = (perSecond: number): number => {
      const { requests, attempts } = outage({ policy: POLICY, perSecond, seconds: 100, workers: 2 });
      return attempts - requests;
    };
    expect(retriesOf(1)).toBe(2 * 100);
    for (const perSecond of [2, 5, 10]) {
      expect(retriesOf(perSecond)).toBeGreaterThanOrEqual(3 * 100);
      expect(retriesOf(perSecond)).toBeLessThanOrEqual((30 * 100) / 8);
    }
  });

  it('the budget is kept at any load, share and floor', () => {
    const loads = fc.record({
      perSecond: fc.integer({ min: 1, max: 400 }),
      workers: fc.integer({ min: 1, max: 4 }),
      budgetPercent: fc.integer({ min: 0, max: 100 }),
      minPerSecond: fc.integer({ min: 0, max: 10 }),
      attempts: fc.integer({ min: 1, max: 10 }),
    });
    fc.assert(
      fc.property(loads, ({ perSecond, workers, budgetPercent, minPerSecond, attempts }) => {
        const policy = { ...POLICY, attempts, budgetPercent, minPerSecond };
        const ended = outage({ policy, perSecond, seconds: 20, workers });
        // The window forgets two seconds at a time: of ten seconds it may know only the last eight.
        const windows = Math.ceil(20 / 8);
        const floor = Math.ceil(minPerSecond * 10);
        const most = Math.max(windows * floor, (budgetPercent / 100) * ended.requests + windows * (floor + 1));
        expect(ended.attempts - ended.requests).toBeLessThanOrEqual(most);
      }),
      { numRuns: 40 },
    );
  });
});

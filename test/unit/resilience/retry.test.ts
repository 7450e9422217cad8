import { describe, expect, it } from 'vitest';
import { type FailedAttempt, isIdempotent, mayRetry } from '../../../gateway/resilience/retry.ts';

const policy = { attempts: 3, on: ['connect', 'reset', 'timeout'] as const };
const failed: FailedAttempt = { reason: 'reset', attempts: 1, sent: true, repeatable: true, replayable: true };

describe('a failed attempt', () => {
  it.each([
    ['an idempotent request that was sent', {}, true],
    ['a connection that was refused, whatever the method', { reason: 'connect', sent: false, repeatable: false }, true],
    ['a POST of which bytes were sent (case 22)', { repeatable: false }, false],
    ['a body that is not at hand any more', { replayable: false }, false],
    ['the last of its attempts', { attempts: 3 }, false],
    ['a status of a repeatable request', { reason: 'status' }, true],
    ['a status of a POST', { reason: 'status', repeatable: false }, false],
  ] satisfies [string, Partial<FailedAttempt>, boolean][])('is made again for %s: %o → %s', (_what, part, expected) => {
    expect(mayRetry(policy, { ...failed, ...part })).toBe(expected);
  });

  it('is not made again for a reason that the route does not name', () => {
    expect(mayRetry({ ...policy, on: ['connect'] }, { ...failed, reason: 'timeout' })).toBe(false);
  });

  it('may be repeated for the methods of RFC 9110 only', () => {
    const methods = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'POST', 'PATCH', 'CONNECT', 'get', 'BREW'];
    expect(methods.filter(isIdempotent)).toEqual(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);
  });
});

import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../gateway/pool/lease.ts';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { type Behaviour, good, PoolScene } from '../../support/pool-scene.ts';

const NEVER_BY_ROWS = { consecutiveFailures: 1_000_000 };

/** Of an endpoint's requests every `nth` fails; all others are good. */
function failing(port: number, nth: number): Behaviour {
  let count = 0;
  return (at) => (at === port && ++count % nth === 0 ? 'status' : 'success');
}

function scene(policy: Parameters<typeof ejectionPolicy>[0] = {}, workers = 4): PoolScene {
  return new PoolScene([endpoint(1), endpoint(2)], workers, { ejection: ejectionPolicy(policy) });
}

describe('an endpoint of whose requests many fail', () => {
  it('is set aside by what all workers saw together, once there are enough', () => {
    const pool = scene();
    pool.run({ seconds: 3, perSecond: 20, outcome: failing(2, 2) });
    expect(pool.history()).toEqual([[2, 2, 'ejected', 5]]);
    expect(pool.changes[0]?.reason).toEqual({ why: 'status', trigger: 'failure_percent', figure: 50 });
    expect(pool.view()[2]).toMatchObject({
      requests: 20,
      failures: 10,
      why: 'ejected: 50 % of its requests failed, the last: an answer with a failure status',
    });
  });

  it.each([
    ['too few fail', { failurePercent: 51 }, 20, 2],
    ['there are too few requests in the window', {}, 3.8, 2],
    ['the window is too short for them', { windowMs: 1000 }, 20, 2],
    ['the rule is off', { failurePercent: Number.POSITIVE_INFINITY }, 20, 2],
    ['every third fails', {}, 20, 3],
  ])('is left alone when %s', (_what, policy, perSecond, nth) => {
    const pool = scene(policy);
    pool.run({ seconds: 100, perSecond, outcome: failing(2, nth) });
    expect(pool.history()).toEqual([]);
  });

  it('is set aside as soon as the share is reached, after long good service', () => {
    const pool = scene(NEVER_BY_ROWS);
    pool.run({ seconds: 60, perSecond: 20, outcome: good });
    pool.run({ seconds: 30, perSecond: 20, outcome: failing(2, 1) });
    const [at = 0] = pool.history()[0] ?? [];
    // Of the last eight to ten seconds, half must be bad.
    expect(at).toBeGreaterThanOrEqual(64);
    expect(at).toBeLessThanOrEqual(65);
  });

  it('is not set aside again for what it did before it came back', () => {
    const pool = scene({ ...NEVER_BY_ROWS, minRequests: 200, baseMs: 1000 });
    pool.run({ seconds: 2, perSecond: 200, outcome: failing(2, 1) });
    expect(pool.states()[2]).toBe('ejected');
    pool.run({ seconds: 2, perSecond: 20, outcome: good });
    expect(pool.states()[2]).toBe('active');
    pool.leaseOn(2).release('status');
    pool.run({ seconds: 4, perSecond: 100, outcome: failing(2, 3) });
    expect(pool.states()[2]).toBe('active');
    pool.run({ seconds: 8, perSecond: 100, outcome: failing(2, 1) });
    expect(
      pool
        .history()
        .map(([, , to]) => to)
        .slice(0, 3),
    ).toEqual(['ejected', 'active', 'ejected']);
  });
});

describe('an endpoint of long streams', () => {
  /** Streams whose heads came, and which go on. */
  function streams(pool: PoolScene, count: number): Lease[] {
    return Array.from({ length: count }, (_, at) => {
      const lease = pool.leaseOn(2, at % pool.workers.length);
      lease.answered(5);
      return lease;
    });
  }

  it('is judged by the heads that came, not by the streams that ended', () => {
    const pool = scene(NEVER_BY_ROWS);
    const open = streams(pool, 90);
    for (let at = 0; at < 30; at++) pool.leaseOn(2).release('connection_refused');
    expect(pool.history()).toEqual([]);
    for (let at = 0; at < 60; at++) pool.leaseOn(2).release('connection_refused');
    expect(pool.changes[0]?.reason).toMatchObject({ trigger: 'failure_percent', figure: 50 });
    for (const lease of open) lease.release('client_gone');
    expect(pool.view()[2]).toMatchObject({ inFlight: 0, requests: 180, failures: 90 });
  });

  it('counts each head once, however often it is told of it', () => {
    const pool = scene(NEVER_BY_ROWS, 1);
    for (const lease of streams(pool, 10)) {
      lease.answered(5);
      lease.release('success');
    }
    for (let at = 0; at < 10; at++) pool.leaseOn(2).release('status');
    expect(pool.changes[0]?.reason).toMatchObject({ trigger: 'failure_percent', figure: 50 });
  });

  it('has failed when they break off, each once', () => {
    const pool = scene(NEVER_BY_ROWS);
    const open = streams(pool, 20);
    for (const lease of open.slice(0, 9)) lease.release('truncated');
    expect(pool.history()).toEqual([]);
    open[9]?.release('truncated');
    expect(pool.changes[0]?.reason).toMatchObject({ why: 'truncated', trigger: 'failure_percent', figure: 50 });
  });

  it('has no row of failures when clients take what they want and leave', () => {
    const pool = scene({ failurePercent: Number.POSITIVE_INFINITY });
    for (let round = 0; round < 10; round++) {
      for (let at = 0; at < 4; at++) pool.leaseOn(2).release('connection_refused');
      for (const lease of streams(pool, 1)) lease.release('client_gone');
    }
    expect(pool.history()).toEqual([]);
    for (let at = 0; at < 5; at++) {
      pool.leaseOn(2).release('client_gone');
      pool.leaseOn(2).release('connection_refused');
    }
    expect(pool.changes[0]?.reason).toMatchObject({ trigger: 'consecutive_failures', figure: 5 });
  });
});

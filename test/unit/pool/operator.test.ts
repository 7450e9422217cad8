import { describe, expect, it } from 'vitest';
import type { OperatorAction } from '../../../gateway/pool/operator.ts';
import { endpoint } from '../../support/endpoints.ts';
import { badFor, good, leased, PoolScene } from '../../support/pool-scene.ts';

function scene(): PoolScene {
  return new PoolScene([endpoint(1), endpoint(2)], 3);
}

/** Where twelve requests go. */
function served(pool: PoolScene): Record<string, number> {
  return Object.fromEntries(pool.requests(12, good));
}

describe("an operator's word", () => {
  it.each([
    ['drain', 'draining', 'an operator lets it drain'],
    ['eject', 'ejected', 'ejected by an operator'],
  ] as const)('%s keeps all requests of all workers away, and shows', (action, state, why) => {
    const pool = scene();
    expect(pool.operate(2, action)).toBe(true);
    expect(served(pool)).toEqual({ 1: 12 });
    expect(pool.view()[2]).toMatchObject({ state, why, until: null, effectiveWeight: 0 });
    pool.clock.advance(3_600_000);
    expect(served(pool)).toEqual({ 1: 12 });
  });

  it('can be taken back by the word against it', () => {
    const rows: [OperatorAction, OperatorAction, string][] = [
      ['drain', 'undrain', 'active'],
      ['drain', 'restore', 'active'],
      ['eject', 'restore', 'active'],
      ['eject', 'undrain', 'ejected'],
      ['drain', 'eject', 'ejected'],
      ['eject', 'drain', 'draining'],
    ];
    for (const [first, second, state] of rows) {
      const pool = scene();
      pool.operate(2, first);
      pool.operate(2, second);
      expect([first, second, pool.states()[2]]).toEqual([first, second, state]);
      expect(served(pool)).toEqual(state === 'active' ? { 1: 6, 2: 6 } : { 1: 12 });
    }
  });

  it('lets what is under way end', () => {
    const pool = scene();
    const lease = pool.leaseOn(2);
    pool.operate(2, 'drain');
    expect(pool.view()[2]).toMatchObject({ state: 'draining', inFlight: 1 });
    lease.answered(5);
    lease.release('success');
    expect(pool.view()[2]).toMatchObject({ state: 'draining', inFlight: 0, requests: 1, failures: 0 });
  });

  it('stays over snapshots, and ends with the instance', () => {
    const pool = scene();
    pool.operate(2, 'drain');
    pool.update([endpoint(1), endpoint(2, { weight: 7, tags: ['b'] }), endpoint(3)]);
    expect(pool.states()).toEqual({ 1: 'active', 2: 'draining', 3: 'active' });
    pool.update([endpoint(1), endpoint(2, { instances: ['new'] })]);
    expect(pool.states()[2]).toBe('active');
  });

  it('can empty a pool, for an operator may', () => {
    const pool = scene();
    pool.operate(1, 'drain');
    pool.operate(2, 'eject');
    expect([pool.acquire(), pool.acquire(1, { failOpen: true })]).toEqual(['empty', 'empty']);
  });

  it('is about endpoints that there are', () => {
    expect(scene().operate(3, 'drain')).toBe(false);
  });

  it('makes the pool smaller that ejections are reckoned from', () => {
    const pool = scene();
    pool.operate(1, 'drain');
    pool.requests(60, badFor(2));
    expect(pool.out()).toEqual([]);
  });
});

describe('restore', () => {
  it('brings back what traffic had set aside, before its time', () => {
    const pool = scene();
    pool.requests(20, badFor(2));
    expect(pool.states()[2]).toBe('ejected');
    pool.operate(2, 'restore');
    expect(served(pool)).toEqual({ 1: 6, 2: 6 });
    expect(pool.view()[2]).toMatchObject({ state: 'active', ejections: 1, why: null, until: null });
  });

  it('gives an endpoint that still fails all its chances again, and a longer time out after them', () => {
    const pool = scene();
    pool.requests(20, badFor(2));
    pool.operate(2, 'restore');
    expect(pool.requests(20, badFor(2)).get('2')).toBe(5);
    expect(pool.history().map(([, , to, seconds]) => [to, seconds])).toEqual([
      ['ejected', 5],
      ['ejected', 10],
    ]);
  });

  it('does not touch an endpoint that nobody had set aside', () => {
    const pool = new PoolScene([endpoint(1), endpoint(2)], 2, { slowStart: { windowMs: 10_000, minPercent: 10 } });
    pool.operate(2, 'restore');
    expect(pool.states()).toEqual({ 1: 'active', 2: 'active' });
  });

  it('decides over the probe that is under way, whatever comes of it', () => {
    for (const outcome of ['success', 'status', 'client_gone'] as const) {
      const pool = scene();
      pool.requests(20, badFor(2));
      pool.clock.advance(5100);
      const probe = leased(pool.acquire());
      expect(probe.isProbe).toBe(true);
      pool.operate(2, 'restore');
      if (outcome === 'success') probe.answered(1);
      probe.release(outcome);
      expect([outcome, pool.states()[2]]).toEqual([outcome, 'active']);
      expect(pool.history()).toHaveLength(1);
    }
  });

  it('under a drain lasts: the endpoint is back for traffic when it is undrained', () => {
    const pool = scene();
    pool.requests(20, badFor(2));
    pool.operate(2, 'drain');
    expect(pool.states()[2]).toBe('draining');
    pool.operate(2, 'undrain');
    expect(pool.states()[2]).toBe('ejected');
    pool.operate(2, 'restore');
    expect(served(pool)).toEqual({ 1: 6, 2: 6 });
  });
});

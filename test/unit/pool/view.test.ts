import { describe, expect, it } from 'vitest';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { badFor, good, PoolScene } from '../../support/pool-scene.ts';

describe('the view of a pool', () => {
  it('has the facts of every endpoint, in order', () => {
    const facts = { weight: 4, tags: ['v2'], meta: { zone: 'a' }, instances: ['order-1', 'order-2'] };
    const scene = new PoolScene([endpoint(1, facts), endpoint(2, { status: 'warning' })]);
    expect(Object.keys(scene.view())).toEqual(['1', '2']);
    expect(scene.view()[1]).toEqual({
      endpoint: '127.0.0.1:1',
      instances: ['order-1', 'order-2'],
      weight: 4,
      effectiveWeight: 4,
      status: 'passing',
      state: 'active',
      why: null,
      until: null,
      tags: ['v2'],
      meta: { zone: 'a' },
      inFlight: 0,
      requests: 0,
      failures: 0,
      ejections: 0,
      latencyMs: null,
    });
    expect(scene.view()[2]).toMatchObject({ status: 'warning', state: 'active' });
  });

  it('counts what all workers did: what failed, what a client gave up, what is under way', () => {
    const scene = new PoolScene([endpoint(1)], 3);
    scene.requests(6, good, { latencyMs: 4.26 });
    scene.requests(2, badFor(1));
    scene.requests(1, () => 'client_gone');
    scene.leaseOn(1, 2);
    expect(scene.view()[1]).toMatchObject({ inFlight: 1, requests: 9, failures: 2, latencyMs: 4.3 });
  });

  it.each([
    [{ healthy: false, status: 'critical' as const }, 'unhealthy', 'its source says critical', 0],
    [{ healthy: false, status: 'maintenance' as const }, 'unhealthy', 'its source says maintenance', 0],
    [{ weight: 0 }, 'active', 'its weight is 0', 0],
  ])('of an endpoint with %o says %s: %s', (facts, state, why, effectiveWeight) => {
    const scene = new PoolScene([endpoint(1), endpoint(2, facts)]);
    expect(scene.view()[2]).toMatchObject({ state, why, effectiveWeight, until: null });
  });

  it('says what its source says before all else, then what an operator says, then what traffic says', () => {
    const scene = new PoolScene([endpoint(1), endpoint(2)], 2, { slowStart: { windowMs: 60_000, minPercent: 10 } });
    const seen: (string | undefined)[] = [];
    const look = (): void => void seen.push(scene.states()[2]);
    scene.requests(20, badFor(2));
    look();
    scene.operate(2, 'drain');
    look();
    scene.update([endpoint(1), endpoint(2, { healthy: false, status: 'critical' })]);
    look();
    scene.update([endpoint(1), endpoint(2)]);
    look();
    scene.operate(2, 'undrain');
    look();
    scene.operate(2, 'restore');
    look();
    scene.clock.advance(60_000);
    look();
    expect(seen).toEqual(['ejected', 'draining', 'unhealthy', 'draining', 'ejected', 'warming', 'active']);
  });

  it('counts ejections by what made traffic set endpoints aside, of the whole service, also of endpoints that have left', () => {
    const scene = new PoolScene([endpoint(1), endpoint(2), endpoint(3), endpoint(4)], 2, {
      ejection: ejectionPolicy({ minRequests: 10 }),
    });
    scene.requests(40, badFor(3));
    let count = 0;
    scene.requests(200, (port) => (port === 4 && ++count % 3 !== 0 ? 'status' : 'success'));
    const triggers = ['consecutive_failures', 'failure_percent', 'slow'] as const;
    const ejections = () => triggers.map((trigger) => scene.worker(0).shared.ejections(trigger));
    expect(ejections()).toEqual([1, 1, 0]);
    expect(scene.view()).toMatchObject({ 3: { ejections: 1 }, 4: { ejections: 1 }, 1: { ejections: 0 } });
    scene.update([endpoint(1), endpoint(2)]);
    expect(ejections()).toEqual([1, 1, 0]);
  });
});

import { describe, expect, it } from 'vitest';
import { LeastRequest } from '../../../gateway/balancing/least-request.ts';
import { Lease } from '../../../gateway/pool/lease.ts';
import type { PooledEndpoint } from '../../../gateway/pool/pooled-endpoint.ts';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { badFor, good, PoolScene } from '../../support/pool-scene.ts';

const TEN_SECONDS = { slowStart: { windowMs: 10_000, minPercent: 10 } };

/** How much of `count` requests goes to a port at this moment. */
function shareOf(scene: PoolScene, port: number, count: number): number {
  return (scene.requests(count, good).get(String(port)) ?? 0) / count;
}

describe('slow start', () => {
  it('gives a new endpoint more and more, in proportion to all weights', () => {
    const scene = new PoolScene([endpoint(1)], 2, TEN_SECONDS);
    scene.update([endpoint(1), endpoint(2)]);
    const rows = Array.from({ length: 12 }, (_, second) => {
      const tenths = Math.min(10, Math.max(1, second));
      const row = [second, tenths, scene.requests(10 * (10 + tenths), good).get('2')];
      scene.clock.advance(1000);
      return row;
    });
    expect(rows).toEqual([
      [0, 1, 10],
      [1, 1, 10],
      [2, 2, 20],
      [3, 3, 30],
      [4, 4, 40],
      [5, 5, 50],
      [6, 6, 60],
      [7, 7, 70],
      [8, 8, 80],
      [9, 9, 90],
      [10, 10, 100],
      [11, 10, 100],
    ]);
  });

  it('goes by weight among several that warm up', () => {
    const scene = new PoolScene([endpoint(1, { weight: 4 })], 3, TEN_SECONDS);
    scene.update([endpoint(1, { weight: 4 }), endpoint(2, { weight: 4 }), endpoint(3, { weight: 2 })]);
    scene.clock.advance(5000);
    scene.update([
      endpoint(1, { weight: 4 }),
      endpoint(2, { weight: 4 }),
      endpoint(3, { weight: 2 }),
      endpoint(4, { weight: 1 }),
    ]);
    // In tenths of a unit of weight: 40, 20, 10 and 1.
    expect(Object.fromEntries(scene.requests(7100, good))).toEqual({ 1: 4000, 2: 2000, 3: 1000, 4: 100 });
  });

  it('begins with as much as the policy says', () => {
    const scene = new PoolScene([endpoint(1)], 2, { slowStart: { windowMs: 10_000, minPercent: 50 } });
    scene.update([endpoint(1), endpoint(2)]);
    expect(shareOf(scene, 2, 150)).toBe(1 / 3);
    scene.clock.advance(5900);
    expect(shareOf(scene, 2, 150)).toBe(1 / 3);
    scene.clock.advance(100);
    expect(shareOf(scene, 2, 160)).toBe(6 / 16);
  });

  it('does not concern the first endpoints that the gateway learns of', () => {
    const scene = new PoolScene([], 2, TEN_SECONDS);
    scene.update([endpoint(1), endpoint(2)]);
    expect(shareOf(scene, 2, 100)).toBe(0.5);
    expect(scene.states()).toEqual({ 1: 'active', 2: 'active' });
  });

  it('does not begin anew when an endpoint only changes its facts or its health', () => {
    const scene = new PoolScene([endpoint(1), endpoint(2)], 2, TEN_SECONDS);
    scene.update([endpoint(1), endpoint(2, { healthy: false, status: 'critical' })]);
    scene.update([endpoint(1), endpoint(2, { tags: ['b'], weight: 3 })]);
    expect(scene.states()).toEqual({ 1: 'active', 2: 'active' });
    expect(shareOf(scene, 2, 400)).toBe(0.75);
  });

  it('begins when an endpoint comes back from an ejection', () => {
    const scene = new PoolScene([endpoint(1), endpoint(2)], 2, TEN_SECONDS);
    scene.requests(10, badFor(2));
    scene.clock.advance(5100);
    scene.requests(2, good);
    expect(scene.states()[2]).toBe('warming');
    expect(shareOf(scene, 2, 110)).toBe(1 / 11);
    scene.clock.advance(10_000);
    expect(scene.states()[2]).toBe('active');
    expect(shareOf(scene, 2, 110)).toBe(0.5);
  });

  it('begins when an operator restores what traffic had set aside', () => {
    const scene = new PoolScene([endpoint(1), endpoint(2)], 2, TEN_SECONDS);
    scene.requests(10, badFor(2));
    scene.operate(2, 'restore');
    expect(shareOf(scene, 2, 110)).toBe(1 / 11);
  });

  it('is seen from outside, with its end', () => {
    const scene = new PoolScene([endpoint(1)], 2, TEN_SECONDS);
    scene.clock.advance(2000);
    scene.update([endpoint(1), endpoint(2, { weight: 5 })]);
    scene.clock.advance(4000);
    expect(scene.view()).toMatchObject({
      1: { state: 'active', effectiveWeight: 1, until: null, why: null },
      2: {
        state: 'warming',
        weight: 5,
        effectiveWeight: 2,
        why: 'its traffic grows slowly',
        until: new Date(1_700_000_000_000 + 13_000).toISOString(),
      },
    });
    scene.clock.advance(6000);
    expect(scene.view()[2]).toMatchObject({ state: 'active', effectiveWeight: 5, until: null, why: null });
  });

  it('may be off: a new endpoint has its weight at once', () => {
    const scene = new PoolScene([endpoint(1)], 2);
    scene.update([endpoint(1), endpoint(2)]);
    expect([shareOf(scene, 2, 100), scene.states()[2]]).toEqual([0.5, 'active']);
  });

  it('holds for a policy that looks at load, also where another group has no endpoint that warms up', () => {
    const scene = new PoolScene([endpoint(1, { tags: ['old'] })], 1, { ...TEN_SECONDS, keepsLabels: true });
    const pool = scene.worker(0);
    const balancer = new LeastRequest<PooledEndpoint>({ nextTurn: () => pool.shared.nextTurn(), random: () => 0 });
    const group = pool.addGroup({ labels: null, balancer });
    scene.addGroup(0, { tags: ['old'] });
    scene.update([endpoint(1, { tags: ['old'] }), endpoint(2)]);
    const leases = Array.from({ length: 11 }, () => scene.acquire(0, { group })).filter(
      (each) => each instanceof Lease,
    );
    expect(leases.filter((lease) => lease.endpoint.port === 2)).toHaveLength(1);
  });

  it('goes on while routes are configured anew', () => {
    const scene = new PoolScene([endpoint(1)], 1, { ...TEN_SECONDS, ejection: ejectionPolicy() });
    scene.update([endpoint(1), endpoint(2)]);
    scene.clock.advance(3000);
    const pool = scene.worker(0);
    pool.reconfigure(scene.policies, scene.snapshot);
    const group = scene.addGroup(0, null);
    expect(scene.requests(130, good, { group }).get('2')).toBe(30);
    pool.reconfigure({ ...scene.policies, slowStart: { windowMs: 0, minPercent: 10 } }, scene.snapshot);
    const warm = scene.addGroup(0, null);
    expect(scene.requests(130, good, { group: warm }).get('2')).toBe(65);
  });
});

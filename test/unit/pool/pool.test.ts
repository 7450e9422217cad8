import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../gateway/core/failure.ts';
import { Lease } from '../../../gateway/pool/lease.ts';
import type { PooledEndpoint } from '../../../gateway/pool/pooled-endpoint.ts';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { badFor, good, PoolScene as Scene } from '../../support/pool-scene.ts';

describe('a pool', () => {
  it('shares exactly by weight over all workers together', () => {
    const scene = new Scene([endpoint(1, { weight: 4 }), endpoint(2, { weight: 2 }), endpoint(3)], 4);
    expect(Object.fromEntries(scene.requests(700, good))).toEqual({ 1: 400, 2: 200, 3: 100 });
  });

  it.each([
    ['weight 0', { weight: 0 }],
    ['no health', { healthy: false, status: 'critical' as const }],
  ])('never picks an endpoint of %s (case 78)', (_what, facts) => {
    const scene = new Scene([endpoint(1), endpoint(2, facts)]);
    expect(Object.fromEntries(scene.requests(20, good))).toEqual({ 1: 20 });
  });

  it('is empty when all weights are 0, when none is healthy, and when there is none (case 79)', () => {
    const scene = new Scene([endpoint(1, { weight: 0 }), endpoint(2, { weight: 0 })]);
    expect(scene.acquire()).toBe('empty');
    scene.update([endpoint(1, { healthy: false })]);
    expect(scene.acquire()).toBe('empty');
    scene.update([]);
    expect(scene.acquire()).toBe('empty');
  });

  it('ejects after five failures in a row, whichever workers saw them, and all workers see it at once', () => {
    const scene = new Scene([endpoint(1), endpoint(2)], 4);
    const seen = scene.requests(100, badFor(2));
    expect(seen.get('2')).toBe(5);
    expect(scene.changes).toHaveLength(1);
    expect(scene.changes[0]).toMatchObject({
      to: 'ejected',
      reason: { why: 'connection_refused', trigger: 'consecutive_failures', figure: 5 },
      forMs: 5000,
    });
  });

  it('forgets failures with a success in between', () => {
    const byRowsOnly = { ejection: ejectionPolicy({ failurePercent: Number.POSITIVE_INFINITY }) };
    const scene = new Scene([endpoint(1), endpoint(2)], 1, byRowsOnly);
    let count = 0;
    const everyFifthGood = (port: number): Outcome => (port === 2 && ++count % 5 !== 0 ? 'status' : 'success');
    expect(scene.requests(200, everyFifthGood).get('2')).toBe(100);
  });

  it('holds nothing against an endpoint whose clients leave (case 114)', () => {
    const scene = new Scene([endpoint(1), endpoint(2)]);
    scene.requests(100, () => 'client_gone');
    expect(scene.changes).toEqual([]);
  });

  it('shares exactly among the rest while one is out', () => {
    const scene = new Scene([endpoint(1, { weight: 3 }), endpoint(2, { weight: 5 }), endpoint(3)]);
    scene.requests(40, badFor(2));
    expect(Object.fromEntries(scene.requests(400, good))).toEqual({ 1: 300, 3: 100 });
  });

  it('never ejects a lone endpoint, nor more than half of three (case 109)', () => {
    const lone = new Scene([endpoint(1)]);
    expect(lone.requests(50, badFor(1)).get('1')).toBe(50);
    const three = new Scene([endpoint(1), endpoint(2), endpoint(3)]);
    three.requests(200, badFor(1, 2));
    expect(three.workers[0]?.usable.filter(({ cell }) => cell.isEjected())).toHaveLength(1);
  });

  it('lets exactly one request through when the time is over; success brings it back', () => {
    const scene = new Scene([endpoint(1), endpoint(2)]);
    scene.requests(40, badFor(2));
    scene.clock.advance(4900);
    expect(scene.requests(10, good).get('2')).toBeUndefined();
    scene.clock.advance(200);
    const probe = scene.acquire(0);
    if (!(probe instanceof Lease)) throw new Error('no probe');
    expect([probe.endpoint.port, probe.isProbe]).toEqual([2, true]);
    expect(scene.requests(10, good).get('2')).toBeUndefined();
    probe.answered(3);
    probe.release('success');
    expect(scene.requests(10, good).get('2')).toBe(5);
    expect(scene.changes.at(-1)).toMatchObject({ to: 'active' });
  });

  it('ejects a failed probe again, for longer', () => {
    const scene = new Scene([endpoint(1), endpoint(2)]);
    scene.requests(40, badFor(2));
    const durations = [5000, 10_000, 20_000, 40_000].map((expected) => {
      scene.clock.advance(expected + 100);
      scene.requests(2, badFor(2));
      return scene.changes.at(-1)?.forMs;
    });
    expect(durations).toEqual([10_000, 20_000, 40_000, 80_000]);
  });

  it('lets another request probe when the client of the first left', () => {
    const scene = new Scene([endpoint(1), endpoint(2)]);
    scene.requests(40, badFor(2));
    scene.clock.advance(6000);
    expect(scene.request(0, () => 'client_gone')).toBe('2');
    expect(scene.request(1, good)).toBe('2');
    expect(scene.changes.at(-1)).toMatchObject({ to: 'active' });
  });

  it('probes with a request that must not be made twice only when no other has come for a while', () => {
    const scene = new Scene([endpoint(1), endpoint(2)], 1);
    scene.requests(40, badFor(2));
    scene.clock.advance(5100);
    const post = () => scene.acquire(0, { isRepeatable: false });
    const early = post();
    expect(early instanceof Lease && early.isProbe).toBe(false);
    scene.clock.advance(5000);
    const late = post();
    expect(late instanceof Lease && late.isProbe).toBe(true);
  });

  it('is not brought back by a late success of an old request (case 112)', () => {
    const scene = new Scene([endpoint(1), endpoint(2)], 1);
    const slow: Lease[] = [];
    while (slow[0]?.endpoint.port !== 2) {
      const lease = scene.acquire();
      if (lease instanceof Lease) slow.unshift(lease);
    }
    scene.requests(40, badFor(2));
    slow[0]?.answered(3000);
    slow[0]?.release('success');
    expect(scene.requests(10, good).get('2')).toBeUndefined();
  });

  it('says that all are ejected, or takes turns among them where that is better than nothing (case 111)', () => {
    const scene = new Scene([endpoint(1), endpoint(2)], 1, { ejection: ejectionPolicy({ maxPercent: 100 }) });
    for (let at = 0; at < 20; at++) {
      const lease = scene.acquire();
      if (lease instanceof Lease) lease.release('status');
    }
    expect(scene.acquire()).toBe('ejected');
    const ports = [0, 1, 2, 3].map(() => {
      const lease = scene.acquire(0, { failOpen: true });
      return lease instanceof Lease ? lease.endpoint.port : lease;
    });
    expect(new Set(ports)).toEqual(new Set([1, 2]));
  });

  it('says when a request has been to everybody', () => {
    const scene = new Scene([endpoint(1), endpoint(2)]);
    const tried: PooledEndpoint[] = [];
    for (let at = 0; at < 2; at++) {
      const lease = scene.acquire(0, { tried });
      if (lease instanceof Lease) tried.push(lease.endpoint);
    }
    expect(scene.acquire(0, { tried })).toBe('tried');
  });

  it('keeps an ejection over changes of others and of its own weight and tags (case 105)', () => {
    const scene = new Scene([endpoint(1), endpoint(2)]);
    scene.requests(40, badFor(2));
    scene.update([endpoint(1, { weight: 7 }), endpoint(2, { weight: 3, tags: ['new'] }), endpoint(3)]);
    expect(scene.requests(80, good).get('2')).toBeUndefined();
    scene.clock.advance(6000);
    expect(scene.requests(2, good).get('2')).toBe(1);
  });

  it('starts afresh when another instance takes over the address, and lets the old one go', () => {
    const scene = new Scene([endpoint(1), endpoint(2)]);
    scene.requests(40, badFor(2));
    scene.update([endpoint(1), endpoint(2, { instances: ['another'] })]);
    expect(scene.gone).toEqual(['127.0.0.1:2', '127.0.0.1:2']);
    expect(scene.requests(10, good).get('2')).toBe(5);
  });

  it('gives nothing to an endpoint that left, and says so once to each worker', () => {
    const scene = new Scene([endpoint(1), endpoint(2), endpoint(3)]);
    scene.update([endpoint(1), endpoint(3)]);
    expect(scene.gone).toEqual(['127.0.0.1:2', '127.0.0.1:2']);
    expect(scene.requests(10, good).get('2')).toBeUndefined();
  });

  it('goes on in its turn when an update changes nothing but facts', () => {
    const scene = new Scene([endpoint(1, { weight: 5 }), endpoint(2)], 1);
    const seen: string[] = [];
    for (let at = 0; at < 60; at++) {
      scene.update([endpoint(1, { weight: 5, meta: { at: String(at) } }), endpoint(2)]);
      seen.push(scene.request(0, good));
    }
    expect(seen.filter((port) => port === '2')).toHaveLength(10);
  });

  it('counts a lease once, however often it is released', () => {
    const scene = new Scene([endpoint(1), endpoint(2)], 1);
    const lease = scene.acquire();
    if (!(lease instanceof Lease)) throw new Error('no lease');
    lease.release('success');
    lease.release('status');
    expect([lease.endpoint.cell.inFlight(), lease.endpoint.cell.outcomes('status')]).toEqual([0, 0]);
  });
});

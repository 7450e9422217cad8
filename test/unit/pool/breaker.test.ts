import { describe, expect, it } from 'vitest';
import { Lease } from '../../../gateway/pool/lease.ts';
import type { BreakerPolicy } from '../../../gateway/resilience/breaker.ts';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { type Behaviour, good, leased, PoolScene } from '../../support/pool-scene.ts';

const POLICY: BreakerPolicy = { failurePercent: 50, minRequests: 20, windowMs: 10_000, openMs: 5000, probes: 3 };
const bad: Behaviour = () => 'http_response_timeout';

/** A service with a breaker, whose endpoints are never set aside. */
function scene(changes: Partial<BreakerPolicy> = {}, workers = 4): PoolScene {
  const breaker = { ...POLICY, ...changes };
  return new PoolScene([endpoint(1), endpoint(2)], workers, { breaker, ejection: ejectionPolicy({ maxPercent: 0 }) });
}

function stateOf(pool: PoolScene): string {
  return pool.worker(0).shared.breaker(pool.clock.nowMs()).state;
}

/** Opens the breaker by failures all at once. */
function opened(changes: Partial<BreakerPolicy> = {}, workers = 4): PoolScene {
  const pool = scene(changes, workers);
  pool.requests(20, bad);
  expect(stateOf(pool)).toBe('open');
  return pool;
}

function acquired(pool: PoolScene, count: number): (Lease | string)[] {
  return Array.from({ length: count }, (_, at) => pool.acquire(at % pool.workers.length));
}

function said(leases: readonly (Lease | string)[]): string[] {
  return leases.map((lease) => (lease instanceof Lease ? 'lease' : lease));
}

describe('the breaker of a service', () => {
  it('opens by what all workers saw together, refuses, and closes by good probes', () => {
    const pool = scene();
    const isBad = (): boolean => pool.atMs > 10_000 && pool.atMs < 21_000;
    const outcome: Behaviour = () => (isBad() ? 'status' : 'success');
    const states = pool.run({ seconds: 40, perSecond: 20, outcome }, () => stateOf(pool));
    expect(states).toEqual([
      [0.05, 'closed'],
      [15, 'open'],
      [25, 'half_open'],
      [25.1, 'closed'],
    ]);
    expect(pool.breakerChanges).toMatchObject([
      { to: 'open', atMs: 15_000, attempts: 161, failures: 100 },
      { to: 'open', atMs: 20_000, attempts: 3, failures: 1 },
      { to: 'closed', atMs: 25_100 },
    ]);
  });

  it('opens only when there were enough attempts, and enough of them failed', () => {
    const few = scene();
    few.requests(19, bad);
    expect(stateOf(few)).toBe('closed');
    const some = scene();
    let count = 0;
    some.requests(1000, () => (++count % 3 === 0 ? 'status' : 'success'));
    expect(stateOf(some)).toBe('closed');
  });

  it('forgets what is longer ago than its window', () => {
    const pool = scene();
    pool.run({ seconds: 100, perSecond: 1, outcome: bad });
    expect(stateOf(pool)).toBe('closed');
    pool.requests(19, bad);
    expect(stateOf(pool)).toBe('open');
  });

  it('does not count clients that leave, neither way', () => {
    const pool = scene();
    pool.requests(19, bad);
    pool.requests(1000, () => 'client_gone');
    expect(stateOf(pool)).toBe('closed');
    pool.requests(1, bad);
    expect(stateOf(pool)).toBe('open');
  });

  it('lets exactly so many requests probe, over all workers', () => {
    const pool = opened();
    expect(said(acquired(pool, 4))).toEqual(['breaker', 'breaker', 'breaker', 'breaker']);
    pool.clock.advance(5000);
    expect(said(acquired(pool, 6))).toEqual(['lease', 'lease', 'lease', 'breaker', 'breaker', 'breaker']);
    expect(stateOf(pool)).toBe('half_open');
  });

  it('opens again at a bad probe, for the whole time', () => {
    const pool = opened();
    pool.clock.advance(5000);
    const probes = acquired(pool, 3).filter((each) => each instanceof Lease);
    probes[0]?.release('success');
    pool.clock.advance(1000);
    probes[1]?.release('status');
    expect(stateOf(pool)).toBe('open');
    probes[2]?.release('success');
    pool.clock.advance(4900);
    expect(said(acquired(pool, 1))).toEqual(['breaker']);
    pool.clock.advance(100);
    expect(said(acquired(pool, 4))).toEqual(['lease', 'lease', 'lease', 'breaker']);
  });

  it('gives the place of a probe whose client left, or that found no endpoint, to another', () => {
    const pool = opened({ probes: 1 });
    pool.clock.advance(5000);
    leased(pool.acquire(0)).release('client_gone');
    expect(pool.acquire(1, { tried: [...pool.worker(1).usable] })).toBe('tried');
    const probe = leased(pool.acquire(2));
    expect(pool.acquire(3)).toBe('breaker');
    probe.release('success');
    expect(stateOf(pool)).toBe('closed');
  });

  it('begins anew when its probes are stuck, and hears no more of them', () => {
    const pool = opened({ probes: 1 });
    pool.clock.advance(5000);
    const stuck = leased(pool.acquire(0));
    pool.clock.advance(5000);
    const probe = leased(pool.acquire(1));
    expect(pool.acquire(2)).toBe('breaker');
    stuck.release('http_response_timeout');
    expect(stateOf(pool)).toBe('half_open');
    probe.release('success');
    expect(stateOf(pool)).toBe('closed');
  });

  it('closes as soon as the heads of its probes came: a service of streams need not end them', () => {
    const pool = opened();
    pool.clock.advance(5000);
    const probes = acquired(pool, 3).filter((each) => each instanceof Lease);
    for (const probe of probes) probe.answered(20);
    expect(stateOf(pool)).toBe('closed');
    for (const probe of probes) probe.release('truncated');
    expect(stateOf(pool)).toBe('closed');
    // What broke off counts among the twenty that open it again.
    pool.requests(16, bad);
    expect(stateOf(pool)).toBe('closed');
    pool.requests(1, bad);
    expect(pool.breakerChanges.map(({ to }) => to)).toEqual(['open', 'closed', 'open']);
  });

  it.each([
    ['a short window', 10_000, 5000],
    ['a window far longer than it was open', 60_000, 100],
  ])('that closed does not open for what was before, with %s', (_what, windowMs, openMs) => {
    const pool = opened({ windowMs, openMs });
    pool.clock.advance(openMs);
    pool.requests(3, good);
    expect(stateOf(pool)).toBe('closed');
    pool.requests(19, bad);
    expect(stateOf(pool)).toBe('closed');
    pool.requests(1, bad);
    expect(stateOf(pool)).toBe('open');
  });

  it('that closed does not open for requests from before that fail while it is half open', () => {
    const pool = scene();
    const old = acquired(pool, 40).filter((each) => each instanceof Lease);
    pool.requests(20, bad);
    pool.clock.advance(5000);
    for (const lease of old) lease.release('http_response_timeout');
    pool.requests(3, good);
    expect(stateOf(pool)).toBe('closed');
    pool.requests(1, bad);
    expect(stateOf(pool)).toBe('closed');
  });

  it('judges streams by their heads, and by their breaking off', () => {
    const pool = scene();
    const streams = acquired(pool, 60).filter((each) => each instanceof Lease);
    for (const lease of streams) lease.answered(5);
    pool.requests(30, bad);
    expect(stateOf(pool)).toBe('closed');
    for (const lease of streams.slice(0, 14)) lease.release('truncated');
    expect(stateOf(pool)).toBe('closed');
    for (const lease of streams.slice(14, 16)) lease.release('truncated');
    expect(stateOf(pool)).toBe('open');
  });

  it('does not hide that the pool is empty', () => {
    const pool = opened();
    pool.update([]);
    expect(pool.acquire()).toBe('empty');
  });

  it('is nobody without a policy', () => {
    const pool = new PoolScene([endpoint(1)], 2);
    pool.requests(1000, bad);
    expect([stateOf(pool), pool.request(0, good)]).toEqual(['closed', '1']);
  });
});

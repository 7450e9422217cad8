import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../gateway/core/instance.ts';
import type { Group, GroupLabels } from '../../../gateway/pool/group.ts';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { badFor, good, PoolScene } from '../../support/pool-scene.ts';

const ENDPOINTS = [
  endpoint(1, { tags: ['blue'], meta: { zone: 'a' } }),
  endpoint(2, { tags: ['blue', 'new'], meta: { zone: 'b', cpu: '4' } }),
  endpoint(3, { tags: ['green'], meta: { zone: 'a' } }),
  endpoint(4),
];

function scene(endpoints: readonly Endpoint[] = ENDPOINTS): PoolScene {
  return new PoolScene(endpoints, 1, { keepsLabels: true });
}

/** The ports that a group sends to. */
function portsOf(pool: PoolScene, group: Group): number[] {
  const ports = [...pool.requests(60, good, { group }).keys()];
  return ports.map(Number).toSorted((a, b) => a - b);
}

describe('a group of a pool', () => {
  it.each([
    [{}, [1, 2, 3, 4]],
    [{ tags: ['blue'] }, [1, 2]],
    [{ tags: ['new', 'blue'] }, [2]],
    [{ meta: { zone: 'a' } }, [1, 3]],
    [{ meta: { zone: 'b', cpu: '4' } }, [2]],
    [{ tags: ['blue'], meta: { zone: 'a' } }, [1]],
  ] satisfies [Partial<GroupLabels>, number[]][])('of %o has the endpoints %j', (labels, ports) => {
    const pool = scene();
    expect(portsOf(pool, pool.addGroup(0, labels))).toEqual(ports);
  });

  it.each([
    [{ tags: ['Blue'] }],
    [{ tags: ['blue', 'green'] }],
    [{ meta: { zone: '' } }],
    [{ meta: { toString: 'a' } }],
    [{ meta: { cpu: '04' } }],
  ])('of %o has none: it is empty, whatever the others do', (labels) => {
    const pool = scene();
    const group = pool.addGroup(0, labels);
    expect(group.isEmpty).toBe(true);
    expect(pool.acquire(0, { group, failOpen: true })).toBe('empty');
    expect(pool.request(0, good)).not.toBe('empty');
  });

  it('follows the labels of its endpoints, without their losing anything else', () => {
    const pool = scene();
    const group = pool.addGroup(0, { tags: ['blue'] });
    pool.requests(40, badFor(1), { group });
    expect(pool.out()).toEqual([1]);
    pool.update([endpoint(1, { tags: ['green'] }), endpoint(2, { tags: ['new'] }), endpoint(3, { tags: ['blue'] })]);
    expect(portsOf(pool, group)).toEqual([3]);
    pool.update([endpoint(1, { tags: ['blue'] }), endpoint(2), endpoint(3, { tags: ['blue'] })]);
    expect([pool.out(), portsOf(pool, group)]).toEqual([[1], [3]]);
  });

  it('has its own empty, ejected and tried', () => {
    const pool = scene();
    const group = pool.addGroup(0, { tags: ['new'] });
    const [only] = pool.worker(0).usable.filter(({ port }) => port === 2);
    if (only === undefined) throw new Error('no endpoint 2');
    expect(pool.acquire(0, { group, tried: [only] })).toBe('tried');
    pool.requests(5, badFor(2), { group });
    expect(pool.acquire(0, { group })).toBe('ejected');
    expect(pool.acquire(0, { group, failOpen: true, tried: [only] })).toBe('tried');
    expect(pool.request(0, good)).not.toBe('ejected');
  });

  it('probes only endpoints of its own', () => {
    const pool = scene();
    const green = pool.addGroup(0, { tags: ['green'] });
    const blue = pool.addGroup(0, { tags: ['blue'] });
    pool.requests(20, badFor(1), { group: blue });
    pool.clock.advance(6000);
    expect(portsOf(pool, green)).toEqual([3]);
    expect(pool.states()[1]).toBe('ejected');
    expect(portsOf(pool, blue)).toEqual([1, 2]);
  });

  it('counts turns on its own and shares them by weight', () => {
    const pool = scene([endpoint(1, { weight: 3, tags: ['a'] }), endpoint(2, { tags: ['a'] }), endpoint(3)]);
    const group = pool.addGroup(0, { tags: ['a'] });
    expect(Object.fromEntries(pool.requests(400, good, { group }))).toEqual({ 1: 300, 2: 100 });
  });

  it('chooses exactly those that carry everything, of any endpoints', () => {
    const words = fc.subarray(['a', 'b', 'c']);
    const meta = fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2'), { maxKeys: 2 });
    const labels = fc.record({ tags: words, meta });
    fc.assert(
      fc.property(fc.array(labels, { minLength: 1, maxLength: 6 }), labels, (all, wanted) => {
        const pool = scene(all.map((each, at) => endpoint(at + 1, each)));
        const group = pool.addGroup(0, wanted);
        const expected = all.flatMap(({ tags, meta: own }, at) => {
          const hasTags = wanted.tags.every((tag) => tags.includes(tag));
          const hasMeta = Object.entries(wanted.meta).every(([key, value]) => own[key] === value);
          return hasTags && hasMeta ? [at + 1] : [];
        });
        expect(expected.length === 0 ? [] : portsOf(pool, group)).toEqual(expected);
        expect(group.isEmpty).toBe(expected.length === 0);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a pool whose routes are configured anew', () => {
  it('learns the labels when a route begins to choose by them', () => {
    const pool = new PoolScene(ENDPOINTS, 1);
    expect(pool.addGroup(0, { tags: ['blue'] }).isEmpty).toBe(true);
    pool.worker(0).reconfigure({ ...pool.policies, keepsLabels: true }, pool.snapshot);
    expect(portsOf(pool, pool.addGroup(0, { tags: ['blue'] }))).toEqual([1, 2]);
    pool.worker(0).reconfigure(pool.policies, pool.snapshot);
    expect(pool.worker(0).usable.map(({ labels }) => labels)).toEqual([null, null, null, null]);
  });

  it('keeps what it knows of its endpoints', () => {
    const pool = scene();
    pool.requests(40, badFor(1));
    const before = [...pool.worker(0).usable];
    pool.worker(0).reconfigure({ ...pool.policies, ejection: ejectionPolicy({ baseMs: 1 }) }, pool.snapshot);
    expect(pool.worker(0).usable).toEqual(before);
    expect([pool.gone, pool.out()]).toEqual([[], [1]]);
  });

  it('lets requests of the old groups go on, where endpoints still come, leave and are set aside', () => {
    const pool = scene();
    const old = pool.addGroup(0, null);
    pool.worker(0).reconfigure(pool.policies, pool.snapshot);
    const fresh = pool.addGroup(0, null);
    pool.update([endpoint(1), endpoint(2), endpoint(5)]);
    expect(pool.gone).toEqual(['127.0.0.1:3', '127.0.0.1:4']);
    for (const group of [old, fresh]) expect(portsOf(pool, group)).toEqual([1, 2, 5]);
    pool.requests(60, badFor(5), { group: fresh });
    for (const group of [old, fresh]) expect(portsOf(pool, group)).toEqual([1, 2]);
  });

  it('takes over a snapshot that came with the routes', () => {
    const pool = scene();
    pool.catalog.update('s', [endpoint(1)]);
    pool.worker(0).reconfigure(pool.policies, pool.snapshot);
    expect(pool.gone).toEqual(['127.0.0.1:2', '127.0.0.1:3', '127.0.0.1:4']);
    expect(portsOf(pool, pool.addGroup(0, null))).toEqual([1]);
  });

  it('lets all endpoints go when no route uses the service any more', () => {
    const pool = scene();
    pool.worker(0).close();
    expect(pool.gone).toEqual(ENDPOINTS.map(({ key }) => key));
  });
});

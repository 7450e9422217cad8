// What tells one pool from another.
import { describe, expect, it } from 'vitest';
import type { Instance } from '../../../gateway/core/instance.ts';
import { mergeInstances } from '../../../gateway/discovery/merge-instances.ts';
import { poolMark } from '../../../gateway/discovery/pool-mark.ts';

function instance(changes: Partial<Instance> = {}): Instance {
  const plain = { id: 'n1/web-1', host: '10.0.0.5', port: 8080, weight: 1, tags: [], meta: {} };
  return { ...plain, status: 'passing', ...changes };
}

describe('the mark of a pool', () => {
  const base = mergeInstances([instance({ tags: ['a'], meta: { k: '1' } })], ['passing']);
  it.each<[string, Partial<Instance>]>([
    ['the weight', { weight: 2 }],
    ['the status', { status: 'critical' }],
    ['a tag', { tags: ['b'] }],
    ['a meta value', { meta: { k: '2' } }],
    ['the ID', { id: 'other' }],
    ['the port', { port: 8081 }],
  ])('changes with %s', (_what, change) => {
    const changed = mergeInstances([instance({ tags: ['a'], meta: { k: '1' }, ...change })], ['passing']);
    expect(poolMark(changed)).not.toEqual(poolMark(base));
  });

  it('is the same where the content is, copied or not, whatever the order of the fields', () => {
    const turned = structuredClone(base).map(({ key, instances, ...rest }) => ({ instances, ...rest, key }));
    expect(poolMark(turned)).toEqual(poolMark(base));
    expect(poolMark(base).size).toBe(1);
  });
});

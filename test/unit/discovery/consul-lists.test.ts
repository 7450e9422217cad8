// What two answers of a list of the cluster say about services.
import { describe, expect, it } from 'vitest';
import { CONSUL_LISTS, compareLists } from '../../../gateway/discovery/consul-lists.ts';

function compare(path: string, before: unknown, after: unknown, hasMoved = true) {
  const list = CONSUL_LISTS.find((each) => each.path === path);
  const [old, now] = [list?.read(JSON.stringify(before)), list?.read(JSON.stringify(after))];
  if (list === undefined || old === undefined || now === undefined) throw new Error('no such list');
  const { services, isEverywhere } = compareLists(list, [old, now], hasMoved);
  return { services: [...services].sort(), isEverywhere };
}

const check = (service: string, id = 'c', node = 'n1') => ({ Node: node, CheckID: id, ServiceName: service });

describe('the list of services', () => {
  it('names those that came, went or have other tags, and may be about any other', () => {
    const before = { gone: [], same: ['b', 'a'], tagged: ['v1'] };
    const after = { fresh: [], same: ['a', 'b'], tagged: ['v2'] };
    expect(compare('catalog/services', before, after)).toEqual({
      services: ['fresh', 'gone', 'tagged'],
      isEverywhere: true,
    });
  });

  it('says nothing when its wait was over', () => {
    expect(compare('catalog/services', { a: [] }, { a: [] }, false)).toEqual({ services: [], isEverywhere: false });
  });
});

describe.each(['health/state/critical', 'health/state/warning'])('the list %s', (path) => {
  it('names the services of the checks that came or went, and nobody else', () => {
    const before = [check('a'), check('b', 'd')];
    const after = [check('b', 'd'), check('c', 'e')];
    expect(compare(path, before, after)).toEqual({ services: ['a', 'c'], isEverywhere: false });
  });

  it('tells checks of one ID on two nodes apart', () => {
    expect(compare(path, [check('a')], [check('a'), check('a', 'c', 'n2')]).services).toEqual(['a']);
  });

  it('is about everybody when the check of a node came or went', () => {
    expect(compare(path, [], [check('')])).toEqual({ services: [], isEverywhere: true });
  });

  it('says nothing when only an output changed', () => {
    const noisy = [{ ...check('a'), Output: 'other' }];
    expect(compare(path, [check('a')], noisy)).toEqual({ services: [], isEverywhere: false });
  });
});

it('the list of nodes is about everybody when it moves', () => {
  expect(compare('catalog/nodes', [], [])).toEqual({ services: [], isEverywhere: true });
  expect(compare('catalog/nodes', [], [], false)).toEqual({ services: [], isEverywhere: false });
});

it.each([
  ['catalog/services', '[]'],
  ['catalog/services', 'null'],
  ['health/state/critical', '{}'],
  ['health/state/critical', '['],
])('%s is not read from %s', (path, text) => {
  expect(CONSUL_LISTS.find((list) => list.path === path)?.read(text)).toBeUndefined();
});

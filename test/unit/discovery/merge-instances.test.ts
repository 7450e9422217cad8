// Registrations become endpoints: one for every address, the same whatever the order.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instance } from '../../../gateway/core/instance.ts';
import { mergeInstances } from '../../../gateway/discovery/merge-instances.ts';

function instance(changes: Partial<Instance> = {}): Instance {
  const plain = { id: 'n1/web-1', host: '10.0.0.5', port: 8080, weight: 1, tags: [], meta: {} };
  return { ...plain, status: 'passing', ...changes };
}

const arbitraryInstances = fc.array(
  fc.record<Instance>({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    host: fc.constantFrom('10.0.0.1', '10.0.0.2', '::1'),
    port: fc.constantFrom(80, 443),
    weight: fc.constantFrom(0, 1, 5),
    status: fc.constantFrom('passing', 'warning', 'critical', 'maintenance'),
    tags: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
    meta: fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('1', '2')),
  }),
  { maxLength: 12 },
);

it('makes an endpoint of an instance', () => {
  const [endpoint] = mergeInstances([instance({ weight: 3, tags: ['b', 'a'], meta: { z: '1' } })], ['passing']);
  expect(endpoint).toEqual({
    key: '10.0.0.5:8080',
    host: '10.0.0.5',
    port: 8080,
    weight: 3,
    status: 'passing',
    healthy: true,
    tags: ['a', 'b'],
    meta: { z: '1' },
    instances: ['n1/web-1'],
  });
});

it('sorts endpoints by key and writes IPv6 in brackets', () => {
  const hosts = ['::1', '10.0.0.9', '10.0.0.10'].map((host) => instance({ host, id: host }));
  expect(mergeInstances(hosts, ['passing']).map(({ key }) => key)).toEqual([
    '10.0.0.10:8080',
    '10.0.0.9:8080',
    '[::1]:8080',
  ]);
});

it('keeps the same ID on different addresses apart (case 82)', () => {
  const endpoints = mergeInstances(
    ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((host, at) => instance({ id: `n${at}/web`, host })),
    ['passing'],
  );
  expect(endpoints).toHaveLength(3);
});

describe('one address registered more than once', () => {
  it('takes the largest weight, with the tags and meta of that registration, and all IDs', () => {
    const [endpoint, ...others] = mergeInstances(
      [
        instance({ id: 'b', weight: 1, tags: ['light'] }),
        instance({ id: 'c', weight: 4, tags: ['heavy'], meta: { of: 'c' } }),
        instance({ id: 'a', weight: 4, tags: ['heavy-too'], meta: { of: 'a' } }),
      ],
      ['passing'],
    );
    expect(others).toEqual([]);
    expect(endpoint).toMatchObject({ weight: 4, tags: ['heavy-too'], meta: { of: 'a' }, instances: ['a', 'b', 'c'] });
  });

  it('is healthy if one registration is, and then weighs what that one weighs', () => {
    const registrations = [
      instance({ id: 'a', status: 'critical', weight: 100, tags: ['dead'] }),
      instance({ id: 'b', status: 'passing', weight: 2, tags: ['alive'] }),
    ];
    expect(mergeInstances(registrations, ['passing'])).toMatchObject([
      { healthy: true, status: 'passing', weight: 2, tags: ['alive'], instances: ['a', 'b'] },
    ]);
  });

  it('has the best status where none is accepted', () => {
    const registrations = [instance({ id: 'a', status: 'maintenance' }), instance({ id: 'b', status: 'critical' })];
    expect(mergeInstances(registrations, ['passing'])).toMatchObject([{ healthy: false, status: 'critical' }]);
  });
});

it.each([
  ['passing', false, true],
  ['warning', false, false],
  ['warning', true, true],
  ['critical', true, false],
  ['maintenance', true, false],
] as const)('a %s instance, warning accepted %s: healthy %s', (status, acceptsWarning, isHealthy) => {
  const accept = acceptsWarning ? (['passing', 'warning'] as const) : (['passing'] as const);
  expect(mergeInstances([instance({ status })], accept)[0]?.healthy).toBe(isHealthy);
});

it('keeps a weight of 0: it is not for the merge to take an endpoint out (case 78)', () => {
  expect(mergeInstances([instance({ weight: 0 })], ['passing'])).toMatchObject([{ weight: 0, healthy: true }]);
});

it('gives the same endpoints for every order of the same instances (case 64)', () => {
  fc.assert(
    fc.property(
      arbitraryInstances.chain((instances) =>
        fc.tuple(fc.constant(instances), fc.shuffledSubarray(instances, { minLength: instances.length })),
      ),
      ([instances, shuffled]) => {
        const endpoints = mergeInstances(instances, ['passing']);
        expect(mergeInstances(shuffled, ['passing'])).toEqual(endpoints);
      },
    ),
  );
});

it('makes exactly one endpoint for each address, and loses no ID', () => {
  fc.assert(
    fc.property(arbitraryInstances, (instances) => {
      const endpoints = mergeInstances(instances, ['passing', 'warning']);
      expect(endpoints).toHaveLength(new Set(instances.map(({ host, port }) => `${host} ${port}`)).size);
      expect(new Set(endpoints.flatMap((endpoint) => endpoint.instances))).toEqual(
        new Set(instances.map(({ id }) => id)),
      );
    }),
  );
});

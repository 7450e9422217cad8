// The table registry's answers: what is an instance, what is skipped, and what is no answer at all.
import { describe, expect, it } from 'vitest';
import { decodeRegistryInstances } from '../../../gateway/discovery/registry-decode.ts';

function decode(instances: readonly unknown[]) {
  const text = JSON.stringify({ service: 'web', count: instances.length, instances });
  const decoded = decodeRegistryInstances(text, 'web');
  if (decoded.kind !== 'records') throw new Error(decoded.error);
  return decoded;
}

const good = { instance: 'web-1', addr: '10.0.0.5', port: 8080, meta: {} };

it('reads an instance with its weight and tags from meta', () => {
  const meta = { weight: 4, tags: 'v2, blue,,', zone: 'a', canary: true };
  expect(decode([{ ...good, meta }])).toEqual({
    kind: 'records',
    instances: [
      {
        id: 'web-1',
        host: '10.0.0.5',
        port: 8080,
        weight: 4,
        status: 'passing',
        tags: ['v2', 'blue'],
        meta: { weight: '4', tags: 'v2, blue,,', zone: 'a', canary: 'true' },
      },
    ],
    skipped: [],
    notes: [],
  });
});

it.each([
  [
    ['v1', 'v2'],
    ['v1', 'v2'],
  ],
  ['v1', ['v1']],
  ['', []],
  [undefined, []],
  [5, []],
])('reads the tags %j as %j', (tags, expected) => {
  expect(decode([{ ...good, meta: { tags } }]).instances[0]?.tags).toEqual(expected);
});

it.each([
  [undefined, 1, 0],
  ['3', 3, 0],
  [0, 0, 0],
  ['x', 1, 1],
  [-1, 1, 1],
  [1.5, 1, 1],
  [null, 1, 1],
])('reads the weight %j as %d, with %d notes', (weight, expected, notes) => {
  const decoded = decode([{ ...good, meta: { weight } }]);
  expect(decoded.instances[0]?.weight).toBe(expected);
  expect(decoded.notes).toHaveLength(notes);
});

describe('what is no answer', () => {
  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"service":"web","count":0}',
    '{"service":"web","count":0,"instances":null}',
    '{"service":"web","count":2,"instances":[]}',
    '{"service":"web","instances":[]}',
    '{"service":"other","count":0,"instances":[]}',
    '{"error":"no"}',
  ])('takes %j for an error, never for an empty list', (text) => {
    expect(decodeRegistryInstances(text, 'web').kind).toBe('undecodable');
  });
});

it.each([
  null,
  'web-1',
  {},
  { ...good, instance: '' },
  { ...good, addr: 'a b' },
  { ...good, port: 0 },
  { ...good, addr: 5 },
])('skips the record %j and keeps the others', (record) => {
  const { instances, skipped } = decode([record, { ...good, instance: 'good' }]);
  expect(instances.map(({ id }) => id)).toEqual(['good']);
  expect(skipped).toHaveLength(1);
});

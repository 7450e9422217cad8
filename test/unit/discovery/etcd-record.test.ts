// The values of keys in etcd: what is an instance, and what is skipped with a sentence.
import { expect, it } from 'vitest';
import { decodeEtcdRecord } from '../../../gateway/discovery/etcd-record.ts';

it('reads an instance with weight, tags and meta', () => {
  const value = {
    host: '10.0.0.5',
    port: '8080',
    weight: 4,
    tags: ['v2', 5],
    meta: { zone: 'a', canary: true, x: {} },
  };
  expect(decodeEtcdRecord('a/1', JSON.stringify(value))).toEqual({
    instance: {
      id: 'a/1',
      host: '10.0.0.5',
      port: 8080,
      weight: 4,
      status: 'passing',
      tags: ['v2'],
      meta: { zone: 'a', canary: 'true' },
    },
    note: null,
  });
});

it.each([
  [undefined, 1, null],
  [null, 1, null],
  [0, 0, null],
  [65535, 65535, null],
  ['3', 3, null],
  [65536, 1, 'instance "i": its weight must be an integer 0..65535, got 65536; it counts as 1'],
  [1.5, 1, 'instance "i": its weight must be an integer 0..65535, got 1.5; it counts as 1'],
  [[], 1, 'instance "i": its weight must be an integer 0..65535, got a list; it counts as 1'],
])('reads the weight %j as %d', (weight, expected, note) => {
  const record = decodeEtcdRecord('i', JSON.stringify({ host: 'h', port: 1, weight }));
  expect(record).toMatchObject({ instance: { weight: expected }, note });
});

it.each([
  ['', 'its value is not JSON: ""'],
  ['{"host":', 'its value is not JSON: "{"host":"'],
  ['null', 'its value is not an object, but null'],
  ['[]', 'its value is not an object, but a list'],
  ['{"port":1}', 'its host cannot be connected to: nothing'],
  ['{"host":"0.0.0.0","port":1}', 'its host cannot be connected to: "0.0.0.0"'],
  ['{"host":"10.0.0.300","port":1}', 'its host cannot be connected to: "10.0.0.300"'],
  ['{"host":"h"}', 'its port must be 1..65535, got nothing'],
  ['{"host":"h","port":0}', 'its port must be 1..65535, got 0'],
])('skips %s', (value, why) => {
  expect(decodeEtcdRecord('i', value)).toEqual({ skipped: `instance "i": ${why}` });
});

it('skips a key that ends with the service', () => {
  expect(decodeEtcdRecord('', '{"host":"h","port":1}')).toEqual({
    skipped: 'a key names no instance after the service',
  });
});

// What callers of the table registry may send, and what they are told when they may not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasMeta,
  MAX_NAME_LENGTH,
  readInstanceKey,
  readInstancesQuery,
  readRegistration,
} from '../../../gateway/registration/registry-requests.ts';

const good = { service: 'web', instance: 'web-1', addr: '10.0.0.5', port: 8080, meta: { env: 'prod' } };

describe('readRegistration', () => {
  it.each([
    ['everything', good],
    ['meta of every kind', { ...good, meta: { a: 'x', b: 1.5, c: true, d: ['v1', 'v2'], '': undefined } }],
    ['a name as address', { ...good, addr: 'web.internal' }],
    ['names that are not ASCII', { ...good, service: 'überweisung', instance: '订单-1' }],
    ['names with punctuation', { ...good, instance: 'node-1/web:8080@2' }],
  ])('accepts %s', (_what, body) => {
    const sent: unknown = JSON.parse(JSON.stringify(body));
    expect(readRegistration(sent)).toEqual({ kind: 'ok', value: sent });
  });

  it('takes no meta for an empty one, and writes the address in its one form', () => {
    const { meta: _, ...bare } = good;
    expect(readRegistration({ ...bare, addr: '[::FFFF:10.0.0.7]' })).toEqual({
      kind: 'ok',
      value: { ...bare, addr: '10.0.0.7', meta: {} },
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['null', null, /body must be a JSON object, got null/],
    ['a list', [], /body must be a JSON object, got a list/],
    ['no service', { ...good, service: undefined }, /service is missing/],
    ['an empty service', { ...good, service: '' }, /service is missing/],
    ['a service that is a number', { ...good, service: 5 }, /service must be .*, got 5/],
    ['a blank around the service', { ...good, service: ' web' }, /service must be/],
    ['a long service', { ...good, service: 'x'.repeat(MAX_NAME_LENGTH + 1) }, /service must be 1\.\.255/],
    ['a control character', { ...good, service: 'a\u0000b' }, /service must be .* printable/],
    ['half a character', { ...good, instance: 'a\ud800' }, /instance must be .* printable/],
    ['no instance', { ...good, instance: undefined }, /instance is missing/],
    ['no addr', { ...good, addr: undefined }, /addr must be .*, got nothing/],
    ['an addr with a port', { ...good, addr: '10.0.0.5:80' }, /addr must be .*, got "10\.0\.0\.5:80"/],
    ['an addr that is a URL', { ...good, addr: 'http://h' }, /addr must be/],
    ['an addr that is every address', { ...good, addr: '0.0.0.0' }, /addr must be/],
    ['no port', { ...good, port: undefined }, /port must be an integer 1\.\.65535, got nothing/],
    ['port 0', { ...good, port: 0 }, /port must be .*, got 0/],
    ['port 65536', { ...good, port: 65536 }, /port must be/],
    ['port 80.5', { ...good, port: 80.5 }, /port must be/],
    ['a port in a string', { ...good, port: '80' }, /port must be .*, got "80"/],
    ['meta that is a string', { ...good, meta: 'env=prod' }, /meta must be an object, got "env=prod"/],
    ['meta null', { ...good, meta: null }, /meta must be an object, got null/],
    ['meta with an object', { ...good, meta: { a: {} } }, /meta "a" must be .*, got an object/],
    ['meta with null', { ...good, meta: { a: null } }, /meta "a" must be .*, got null/],
    ['meta with a mixed list', { ...good, meta: { a: ['x', 1] } }, /meta "a" must be .*, got a list/],
    ['meta with an empty key', { ...good, meta: { '': 'x' } }, /meta key "" must have/],
    ['meta with a long key', { ...good, meta: { ['k'.repeat(129)]: 'x' } }, /meta key .* must have 1\.\.128/],
    ['meta with a long value', { ...good, meta: { a: 'x'.repeat(1024) } }, /meta "a" is longer than 1024/],
    [
      'meta with 65 entries',
      { ...good, meta: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, ''])) },
      /meta has 65 entries, at most 64/,
    ],
    ['a key nobody knows', { ...good, prot: 80 }, /unknown key "prot": known are service, instance, addr, port, meta/],
  ])('refuses %s', (_what, body, sentence) => {
    expect(readRegistration(body)).toEqual({ kind: 'bad', error: expect.stringMatching(sentence) });
  });

  it('answers any JSON, and tells a short sentence of what it refuses', () => {
    const nearly = fc.record(
      {
        service: fc.oneof(fc.constant('web'), fc.jsonValue()),
        instance: fc.oneof(fc.constant('web-1'), fc.jsonValue()),
        addr: fc.oneof(fc.constant('10.0.0.5'), fc.jsonValue()),
        port: fc.oneof(fc.constant(80), fc.jsonValue()),
        meta: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(nearly, fc.jsonValue()), (body) => {
        const result = readRegistration(body);
        if (result.kind === 'bad') expect(result.error).toMatch(/^\P{Cc}{10,300}$/u);
        else expect(result.value.port).toBeGreaterThan(0);
      }),
    );
  });
});

describe('readInstanceKey', () => {
  it('takes service and instance', () => {
    expect(readInstanceKey({ service: 'web', instance: 'web-1', addr: 'ignored' })).toEqual({
      kind: 'ok',
      value: { service: 'web', instance: 'web-1' },
    });
  });

  it.each([
    [{ service: 'web' }, /instance is missing/],
    [{ instance: 'x' }, /service is missing/],
    ['web', /JSON object/],
  ])('refuses %j', (input, sentence) => {
    expect(readInstanceKey(input)).toEqual({ kind: 'bad', error: expect.stringMatching(sentence) });
  });
});

describe('readInstancesQuery', () => {
  it('takes every parameter but service for a filter', () => {
    const result = readInstancesQuery(new URLSearchParams('service=web&env=prod&zone='));
    expect(result).toEqual({
      kind: 'ok',
      value: {
        service: 'web',
        meta: new Map([
          ['env', 'prod'],
          ['zone', ''],
        ]),
      },
    });
  });

  it.each([
    ['', /service is missing/],
    ['service=', /service is missing/],
    ['env=prod', /service is missing/],
    ['service=a&service=b', /"service" is given twice/],
    ['service=a&env=x&env=y', /"env" is given twice/],
    ['service=a%00b', /printable/],
  ])('refuses %j', (query, sentence) => {
    const result = readInstancesQuery(new URLSearchParams(query));
    expect(result).toEqual({ kind: 'bad', error: expect.stringMatching(sentence) });
  });
});

it.each<[Record<string, string | number | boolean | string[]>, Record<string, string>, boolean]>([
  [{ env: 'prod' }, {}, true],
  [{ env: 'prod' }, { env: 'prod' }, true],
  [{ env: 'prod' }, { env: 'test' }, false],
  [{ env: 'prod' }, { env: 'prod', zone: 'a' }, false],
  [{ env: 'prod', zone: 'a' }, { env: 'prod', zone: 'a' }, true],
  [{ weight: 4 }, { weight: '4' }, true],
  [{ canary: false }, { canary: 'false' }, true],
  [{ tags: ['v1', 'v2'] }, { tags: 'v2' }, true],
  [{ tags: ['v1', 'v2'] }, { tags: 'v1,v2' }, false],
  [{}, { constructor: 'x' }, false],
  [{ env: '' }, { env: '' }, true],
  [{}, { env: '' }, false],
])('meta %j satisfies the filter %j: %s', (meta, filter, expected) => {
  const listed = { instance: 'a', addr: '10.0.0.5', port: 80, meta };
  expect(hasMeta(listed, new Map(Object.entries(filter)))).toBe(expected);
});

import { Headers as UndiciHeaders } from 'undici';
import { describe, expect, it } from 'vitest';
import { RequestFields } from '../../../gateway/client/request-fields.ts';

type Given = ConstructorParameters<typeof RequestFields>[0];

const FORMS: readonly [string, Given][] = [
  ['an object', { 'X-A': '1', 'X-B': ['2', '3'], 'X-C': undefined }],
  ['names and values by turns', ['X-A', '1', 'X-B', '2', 'X-B', '3']],
  [
    'a list of pairs',
    [
      ['X-A', '1'],
      ['X-B', ['2', '3']],
    ] satisfies Iterable<[string, string | string[]]>,
  ],
  [
    'a Map',
    new Map<string, string | string[]>([
      ['X-A', '1'],
      ['X-B', ['2', '3']],
    ]),
  ],
];

describe('the fields of a request', () => {
  it.each(FORMS)('come as %s', (_form, given) => {
    const fields = new RequestFields(given, 'order-service');
    expect(fields.lines).toEqual(['X-A', '1', 'X-B', '2', 'X-B', '3', 'host', 'order-service']);
    expect(fields.get('x-b')).toBe('2, 3');
    expect(fields.get('x-c')).toBeUndefined();
  });

  it('come as Headers', () => {
    const given = new UndiciHeaders({ 'X-A': '1' });
    expect(new RequestFields(given, 's').lines).toEqual(['x-a', '1', 'host', 's']);
  });

  it.each([null, undefined, {}, []])('get the name of the service as host where there is none: %j', (given) => {
    expect(new RequestFields(given, 'order-service').lines).toEqual(['host', 'order-service']);
  });

  it('keep the host that the caller gave', () => {
    expect(new RequestFields({ HOST: 'shop.example.com' }, 's').lines).toEqual(['HOST', 'shop.example.com']);
  });

  it('have an empty value where undici takes null for one', () => {
    const given: unknown = ['X-A', null, 'X-B', 7];
    expect(new RequestFields(isGiven(given) ? given : null, 's').get('x-a')).toBe('');
    expect(new RequestFields(isGiven(given) ? given : null, 's').get('x-b')).toBe('7');
  });

  it.each([
    ['an odd number of names and values', ['X-A', '1', 'X-B'], 'headers array must be even'],
    ['a pair of three', new Set([['X-A', '1', '2']]), 'headers must be in key-value pair format'],
    ['an object as value', { 'X-A': { b: 1 } }, 'invalid X-A header'],
  ])('are refused as undici does: %s', (_what, given: unknown, message) => {
    expect(() => new RequestFields(isGiven(given) ? given : null, 's')).toThrow(message);
  });
});

/** Callers in JavaScript give what the types do not allow. */
function isGiven(value: unknown): value is NonNullable<Given> {
  return typeof value === 'object';
}

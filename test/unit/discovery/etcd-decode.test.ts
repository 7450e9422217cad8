// What etcd's HTTP gateway sends: whole, or not an answer at all.
import { describe, expect, it } from 'vitest';
import { decodeMessage, decodeRange, isEarlier, readRevision } from '../../../gateway/discovery/etcd-decode.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const kv = (key: string, value: string) => ({
  key: base64(key),
  value: base64(value),
  mod_revision: '7',
  version: '1',
});
const range = (body: object) => decodeRange(JSON.stringify({ header: { revision: '9007199254740993' }, ...body }));
const message = (result: object) => decodeMessage(JSON.stringify({ result: { header: { revision: '9' }, ...result } }));

describe('a range', () => {
  it('has the revision digit for digit, and keys and values as text', () => {
    expect(range({ kvs: [kv('/services/web/ä', '{"ü":1}'), { key: base64('/e') }], count: '2' })).toEqual({
      kind: 'range',
      revision: '9007199254740993',
      entries: [
        { key: '/services/web/ä', value: '{"ü":1}' },
        { key: '/e', value: '' },
      ],
    });
  });

  it('without keys is empty', () => {
    expect(range({})).toMatchObject({ kind: 'range', entries: [] });
  });

  it.each([
    ['', /not JSON/],
    ['{"header":{"revision":"9"},"kvs":[', /not JSON/],
    ['[]', /not an object/],
    ['{}', /no revision/],
    ['{"header":{}}', /no revision/],
    ['{"header":{"revision":"0"}}', /no revision/],
    ['{"header":{"revision":9007199254740993}}', /no revision/],
    ['{"header":{"revision":"9"},"kvs":{}}', /not a list/],
    ['{"header":{"revision":"9"},"count":"1"}', /"count" is "1", but there are 0 keys/],
    ['{"header":{"revision":"9"},"kvs":[{"key":"YQ=="}]}', /"count" is "0", but there are 1 keys/],
    ['{"header":{"revision":"9"},"kvs":[null],"count":"1"}', /base64/],
    ['{"header":{"revision":"9"},"kvs":[{"key":"?"}],"count":"1"}', /base64/],
  ])('that is not whole is no answer: %s', (text, error) => {
    expect(decodeRange(text)).toEqual({ kind: 'undecodable', error: expect.stringMatching(error) });
  });
});

describe('a message of a watch', () => {
  it('tells what was set and what was deleted', () => {
    const events = [{ kv: kv('/a', 'x') }, { type: 'DELETE', kv: { key: base64('/b'), mod_revision: '8' } }];
    expect(message({ events })).toEqual({
      kind: 'changes',
      changes: [
        { key: '/a', value: 'x', revision: '7' },
        { key: '/b', value: null, revision: '8' },
      ],
    });
  });

  it('tells that the watch is created, that nothing happened, and that it is canceled', () => {
    expect(message({ created: true })).toEqual({ kind: 'created' });
    expect(message({})).toEqual({ kind: 'progress' });
    expect(message({ created: true, canceled: true, cancel_reason: 'no\npermission' })).toEqual({
      kind: 'canceled',
      compactRevision: null,
      reason: '"no permission"',
    });
    expect(message({ canceled: true, compact_revision: '12' })).toMatchObject({ compactRevision: '12' });
  });

  it.each([
    '{"result":',
    'null',
    '{}',
    '{"error":{"grpc_code":14,"message":"transport is closing"}}',
    '{"result":{"events":{}}}',
    '{"result":{"events":[null]}}',
    '{"result":{"events":[{"kv":{"key":"YQ=="}}]}}',
    '{"result":{"events":[{"type":"MOVE","kv":{"key":"YQ==","mod_revision":"1"}}]}}',
  ])('that cannot be read breaks the watch: %s', (line) => {
    expect(decodeMessage(line)).toEqual({ kind: 'broken', error: expect.any(String) });
  });
});

it('compares revisions beyond 2^53', () => {
  expect(isEarlier('9007199254740992', '9007199254740993')).toBe(true);
  expect(isEarlier('9007199254740993', '9007199254740993')).toBe(false);
  expect(isEarlier('1', null)).toBe(false);
});

it.each([['0'], ['-1'], ['1.5'], ['a'], [''], [5], [null], ['99999999999999999999']])(
  'takes %j for no revision',
  (value) => {
    expect(readRevision(value)).toBeNull();
  },
);

// DNS records: which of them are instances, with what weight, and when they must be asked for again.
import { describe, expect, it } from 'vitest';
import {
  decodeAddresses,
  decodeSrvGroup,
  dnsName,
  lookAgainMs,
  type Resolved,
  reserveNotes,
  srvGroups,
} from '../../../gateway/discovery/dns-decode.ts';

const srv = (name: string, changes: object = {}) => ({ name, port: 8080, priority: 1, weight: 1, ...changes });
const at = (...addresses: string[]): Resolved => ({
  addresses: addresses.map((address) => ({ address, ttl: 5 })),
  error: null,
});

it('makes a name from the template', () => {
  expect(dnsName('{service}', 'web.example')).toBe('web.example');
  expect(dnsName('_http._tcp.{service}.{service}.test', 'web')).toBe('_http._tcp.web.web.test');
});

describe('SRV records', () => {
  it('are grouped by rising priority, names in lower case', () => {
    const groups = srvGroups([srv('B.test', { priority: 20 }), srv('a.test'), srv('c.test', { priority: 20 })]);
    expect(groups.map((group) => group.map(({ name }) => name))).toEqual([['a.test'], ['b.test', 'c.test']]);
  });

  it.each(['.', ''])('with target "%s" say that there is none (RFC 2782)', (target) => {
    expect(srvGroups([srv(target)])).toEqual([]);
  });

  it('make one instance for every address of every target', () => {
    const resolved = new Map([
      ['a.test', at('10.0.0.1', '10.0.0.2')],
      ['b.test', at('fd00:0::1')],
    ]);
    const { instances, skipped, notes } = decodeSrvGroup([srv('a.test', { weight: 7 }), srv('b.test')], resolved);
    expect(instances.map(({ id, host, port, weight }) => [id, host, port, weight])).toEqual([
      ['a.test/10.0.0.1:8080', '10.0.0.1', 8080, 7],
      ['a.test/10.0.0.2:8080', '10.0.0.2', 8080, 7],
      ['b.test/[fd00::1]:8080', 'fd00::1', 8080, 1],
    ]);
    expect([skipped, notes]).toEqual([[], []]);
  });

  it('of weight 0 count as 1, the smallest share there is', () => {
    const resolved = new Map([['a.test', at('10.0.0.1')]]);
    expect(decodeSrvGroup([srv('a.test', { weight: 0 })], resolved).instances[0]?.weight).toBe(1);
  });

  it('are skipped with a sentence where the target has no address or the port is none', () => {
    const resolved = new Map<string, Resolved>([
      ['a.test', at()],
      ['b.test', { addresses: [], error: 'SERVFAIL' }],
      ['c.test', at('10.0.0.1')],
      ['d.test', at('0.0.0.0')],
    ]);
    const group = [srv('a.test'), srv('b.test'), srv('c.test', { port: 0 }), srv('d.test')];
    expect(decodeSrvGroup(group, resolved)).toEqual({
      instances: [],
      skipped: [
        'target "a.test" has no address',
        'target "b.test" has no address: SERVFAIL',
        'target "c.test": its port must be 1..65535, got 0',
        'the address "0.0.0.0" cannot be connected to',
      ],
      notes: [],
    });
  });

  it('of a target that cannot be asked for stay where it was, with a note', () => {
    const resolved = new Map([['a.test', { ...at('10.0.0.1'), error: 'SERVFAIL' }]]);
    expect(decodeSrvGroup([srv('a.test')], resolved)).toMatchObject({
      instances: [{ host: '10.0.0.1' }],
      notes: ['target "a.test" stays where it was: SERVFAIL'],
    });
  });

  it('in reserve are noted', () => {
    const reserve = srvGroups([
      srv('a.test', { priority: 2 }),
      srv('b.test', { priority: 3 }),
      srv('c.test', { priority: 3 }),
    ]);
    expect(reserveNotes(reserve)).toEqual([
      '1 record of priority 2 in reserve: a lower priority number is there',
      '2 records of priority 3 in reserve: a lower priority number is there',
    ]);
  });
});

it('makes instances of weight 1 from plain addresses', () => {
  expect(decodeAddresses([{ address: '10.0.0.1', ttl: 1 }], 80).instances).toEqual([
    { id: '10.0.0.1:80', host: '10.0.0.1', port: 80, weight: 1, status: 'passing', tags: [], meta: {} },
  ]);
});

it.each([
  [[5, 3, 9], 3000],
  [[0], 1000],
  [[3600], 60_000],
  [[], 60_000],
])('looks again after the least TTL of %j within bounds', (ttls, expected) => {
  expect(lookAgainMs(ttls, { minTtlMs: 1000, maxTtlMs: 60_000 })).toBe(expected);
});

// Consul's health records: what is an instance, what is skipped, and what is no answer at all.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeHealthService } from '../../../gateway/discovery/consul-decode.ts';
import { MAX_SENTENCES } from '../../../gateway/discovery/record.ts';
import { consulCheck, consulEntry, type EntryOptions } from '../../support/consul-entry.ts';

function decode(...records: readonly unknown[]) {
  const decoded = decodeHealthService(JSON.stringify(records));
  if (decoded.kind !== 'records') throw new Error(decoded.error);
  return decoded;
}

function decodeOne(options: EntryOptions) {
  const [instance, ...others] = decode(consulEntry(options)).instances;
  if (instance === undefined || others.length > 0) throw new Error('expected one instance');
  return instance;
}

it('reads a record', () => {
  const record = consulEntry({ tags: ['v2', 'blue'], meta: { weight: '4', zone: 'a' } });
  expect(decode(record)).toEqual({
    kind: 'records',
    instances: [
      {
        id: 'n1/web-1',
        host: '10.0.0.5',
        port: 8080,
        weight: 4,
        status: 'passing',
        tags: ['v2', 'blue'],
        meta: { weight: '4', zone: 'a' },
      },
    ],
    skipped: [],
    notes: [],
  });
});

it('believes an empty list', () => {
  expect(decode()).toEqual({ kind: 'records', instances: [], skipped: [], notes: [] });
});

describe('what is no answer (case 69)', () => {
  it.each(['', ' ', 'null', '{}', '"[]"', '0', '[{}', '[]]', '<html>', 'No cluster leader', '{"instances":[]}'])(
    'takes %j for an error, never for an empty list',
    (text) => {
      expect(decodeHealthService(text).kind).toBe('undecodable');
    },
  );

  it('quotes little of a hostile body', () => {
    const decoded = decodeHealthService(`\u001b[2J${'x'.repeat(1_000_000)}`);
    expect(decoded.kind === 'undecodable' && decoded.error).toMatch(/^[ -~…]{1,120}$/);
  });
});

describe('the status is the worst of all checks', () => {
  const node = (status: string) => consulCheck(status, 'serfHealth', '');
  it.each([
    ['no checks at all', [], 'passing'],
    ['checks that are null', null, 'passing'],
    ['all passing', [node('passing'), consulCheck('passing')], 'passing'],
    ['one warning', [node('passing'), consulCheck('warning')], 'warning'],
    ['the node critical, the service passing (case 75)', [node('critical'), consulCheck('passing')], 'critical'],
    ['a second service check critical', [consulCheck('passing'), consulCheck('critical', 'other')], 'critical'],
    ['warning and critical', [consulCheck('warning'), consulCheck('critical', 'other')], 'critical'],
    [
      'maintenance of the instance (case 76)',
      [node('passing'), consulCheck('critical', '_service_maintenance:web-1')],
      'maintenance',
    ],
    [
      'maintenance of the node (case 76)',
      [consulCheck('passing'), consulCheck('critical', '_node_maintenance', '')],
      'maintenance',
    ],
    [
      'maintenance and critical',
      [node('critical'), consulCheck('critical', '_service_maintenance:web-1')],
      'maintenance',
    ],
    ['a status nobody knows', [consulCheck('fine')], 'critical'],
    ['a check that is null', [null], 'critical'],
    ['checks that are no list', 'passing', 'critical'],
  ])('%s', (_situation, checks, status) => {
    expect(decodeOne({ checks }).status).toBe(status);
  });
});

describe('the weight', () => {
  const warning = [consulCheck('warning')];
  it.each<[string, EntryOptions, number]>([
    ['Meta.weight', { meta: { weight: '7' }, weights: { Passing: 3, Warning: 1 } }, 7],
    ['Meta.weight 0 (case 78)', { meta: { weight: '0' } }, 0],
    ['Meta.weight 65535', { meta: { weight: '65535' } }, 65535],
    ['Meta.weight of a warning instance', { meta: { weight: '7' }, checks: warning }, 7],
    ['Weights.Passing', { weights: { Passing: 3, Warning: 2 } }, 3],
    ['Weights.Warning of a warning instance', { weights: { Passing: 3, Warning: 2 }, checks: warning }, 2],
    ['no weights', { weights: null }, 1],
    ['weights without numbers', { weights: {} }, 1],
    ['meta that is null', { meta: null, weights: { Passing: 3 } }, 3],
  ])('comes from %s', (_where, options, weight) => {
    expect(decode(consulEntry(options)).notes).toEqual([]);
    expect(decodeOne(options).weight).toBe(weight);
  });

  it.each(['-1', '65536', '1.5', 'heavy', '', ' 4', '1e3', '0x10', '999999999999'])(
    'counts as 1 where Meta.weight is %j, with one note and no skipped record',
    (weight) => {
      const { instances, skipped, notes } = decode(consulEntry({ meta: { weight }, weights: { Passing: 9 } }));
      expect(instances.map((instance) => instance.weight)).toEqual([1]);
      expect(skipped).toEqual([]);
      expect(notes).toHaveLength(1);
      expect(notes[0]).toContain('n1/web-1');
    },
  );

  it('counts as 1 where Weights.Passing is invalid', () => {
    expect(decode(consulEntry({ weights: { Passing: -5 } }))).toMatchObject({
      instances: [{ weight: 1 }],
      notes: [expect.stringContaining('-5')],
    });
  });
});

describe('the address', () => {
  it.each<[string, EntryOptions, string]>([
    ['the service', { address: '10.0.0.5' }, '10.0.0.5'],
    ['the node, where the service has none', { address: '', nodeAddress: '10.9.9.9' }, '10.9.9.9'],
    ['the node, where the service has null', { address: null, nodeAddress: '10.9.9.9' }, '10.9.9.9'],
    ['a name', { address: 'Web.Internal' }, 'web.internal'],
    ['a name that may not resolve (case 67)', { address: 'gone.invalid' }, 'gone.invalid'],
    ['IPv6', { address: 'fd00:0::1' }, 'fd00::1'],
    ['IPv6 in brackets', { address: '[::1]' }, '::1'],
    ['IPv4-mapped IPv6', { address: '::ffff:10.0.0.7' }, '10.0.0.7'],
  ])('comes from %s', (_where, options, host) => {
    expect(decodeOne(options).host).toBe(host);
  });
});

describe('records that cannot be used are skipped, the others are not (case 66)', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['a string', 'web'],
    ['a list', []],
    ['an empty object', {}],
    ['Service null', { ...consulEntry(), Service: null }],
    ['no ID and no name', { ...consulEntry(), Service: { Address: '10.0.0.5', Port: 80 } }],
    ['port 0', consulEntry({ port: 0 })],
    ['port 70000', consulEntry({ port: 70000 })],
    ['port -1', consulEntry({ port: -1 })],
    ['port 80.5', consulEntry({ port: 80.5 })],
    ['port null', consulEntry({ port: null })],
    ['port "http"', consulEntry({ port: 'http' })],
    ['no address at all', consulEntry({ address: '', nodeAddress: '' })],
    ['address `a b`', consulEntry({ address: 'a b' })],
    ['address `127.0.0.1/x`', consulEntry({ address: '127.0.0.1/x' })],
    ['address `user@h`', consulEntry({ address: 'user@h' })],
    ['address with a zone', consulEntry({ address: 'fd00::1%eth0' })],
    ['address with a line break', consulEntry({ address: 'h\r\nX-Evil: 1' })],
    ['address 0.0.0.0', consulEntry({ address: '0.0.0.0' })],
    ['a number for an address', consulEntry({ address: 7 })],
  ])('%s', (_what, record) => {
    const { instances, skipped } = decode(record, consulEntry({ id: 'good' }));
    expect(instances.map(({ id }) => id)).toEqual(['n1/good']);
    expect(skipped).toHaveLength(1);
    expect(skipped[0]).toMatch(/^[ -~…]{10,250}$/);
  });

  it('reads a port given as a string of digits', () => {
    expect(decodeOne({ port: '8080' }).port).toBe(8080);
  });

  it('gives a record the same sentence wherever it stands, so that it can be logged once', () => {
    const bad = [consulEntry({ id: 'a', port: 0 }), null, consulEntry({ id: 'b', address: 'a b' })];
    expect(decode(...bad.toReversed()).skipped.toSorted()).toEqual(decode(...bad).skipped.toSorted());
  });

  it('bounds the number of sentences', () => {
    const { skipped } = decode(...Array.from({ length: 5000 }, () => null));
    expect(skipped).toHaveLength(MAX_SENTENCES);
    expect(skipped.at(-1)).toBe('and 4001 more');
  });
});

it('keeps instances of one ID on different nodes apart (case 82)', () => {
  const records = ['n1', 'n2', 'n3'].map((node, at) => consulEntry({ node, id: 'web', address: `10.0.0.${at + 1}` }));
  expect(decode(...records).instances.map(({ id }) => id)).toEqual(['n1/web', 'n2/web', 'n3/web']);
});

it('keeps a meta key `__proto__` as a key, and drops what is no text', () => {
  const decoded = decodeHealthService(
    JSON.stringify([consulEntry()]).replace('"Meta":{}', '"Meta":{"__proto__":"x","n":1,"o":{},"z":null}'),
  );
  const meta = decoded.kind === 'records' ? decoded.instances[0]?.meta : undefined;
  expect(Object.entries(meta ?? {})).toEqual([
    ['__proto__', 'x'],
    ['n', '1'],
  ]);
});

it('answers any JSON with records or an error, and never throws', () => {
  const junk = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .array(fc.record({ Node: fc.jsonValue(), Service: fc.jsonValue(), Checks: fc.jsonValue() }))
      .map((r) => JSON.stringify(r)),
    fc
      .array(
        fc.record({
          id: fc.jsonValue(),
          address: fc.jsonValue(),
          port: fc.jsonValue(),
          meta: fc.jsonValue(),
          checks: fc.jsonValue(),
        }),
      )
      .map((r) => JSON.stringify(r.map(consulEntry))),
  );
  fc.assert(
    fc.property(junk, (text) => {
      const decoded = decodeHealthService(text);
      if (decoded.kind === 'undecodable') return;
      const records: unknown = JSON.parse(text);
      expect(Array.isArray(records) && records.length).toBe(decoded.instances.length + decoded.skipped.length);
      for (const { port, weight } of decoded.instances) {
        expect(port >= 1 && port <= 65535 && weight >= 0 && weight <= 65535).toBe(true);
      }
    }),
  );
});

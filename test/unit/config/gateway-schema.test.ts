// gateway.yaml: its defaults, what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { checkGateway, problemLines, valid } from './checking.ts';

const MINUTE = 60_000;
const KIB = 1024;

describe('an empty gateway.yaml', () => {
  it('has every default of the contract (SPEC 2.1)', () => {
    expect(valid(checkGateway(''))).toEqual({
      listen: [{ host: '0.0.0.0', port: 8080, tls: null, http2: false, proxyProtocol: [], redirect: null, hsts: null }],
      admin: { host: '127.0.0.1', port: 9901, token: '' },
      workers: 'auto',
      routes: '../routes',
      trustedProxies: [],
      discovery: {
        source: 'consul',
        consul: {
          agents: ['http://127.0.0.1:8500'],
          token: '',
          datacenter: '',
          waitMs: MINUTE,
          consistency: 'default',
          accept: ['passing'],
          tls: { ca: '', cert: '', key: '' },
        },
        registry: { url: 'http://127.0.0.1:8510', intervalMs: 5000 },
        dns: { resolver: '', type: 'srv', name: '{service}', port: null, minTtlMs: 1000, maxTtlMs: MINUTE },
        etcd: {
          endpoints: ['http://127.0.0.1:2379'],
          prefix: '/services/',
          username: '',
          password: '',
          tls: { ca: '', cert: '', key: '' },
        },
        snapshot: { path: 'data/snapshot.json', maxAgeMs: 24 * 60 * MINUTE },
        confirmEmptyMs: 2000,
        holdLastGoodMs: 10 * MINUTE,
      },
      limits: {
        requestLineBytes: 8 * KIB,
        headersBytes: 32 * KIB,
        headerCount: 100,
        bodyBytes: 10 * KIB * KIB,
        connections: 20_000,
      },
      timeouts: { requestHeadMs: 10_000, requestBodyMs: 30_000, keepAliveMs: 75_000, writeMs: MINUTE },
      shutdown: { drainMs: 30_000 },
      log: { level: 'info', format: 'json', file: '', access: true, accessFormat: 'json' },
      degradedCache: { maxBytes: 64 * 1024 ** 2, maxEntryBytes: 1024 ** 2 },
      tracing: null,
    });
  });

  it('is plain data that can be sent to a worker', () => {
    const gateway = valid(checkGateway('limits: { body: off }'));
    expect(structuredClone(gateway)).toEqual(gateway);
    expect(gateway.limits.bodyBytes).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('accepted values', () => {
  it.each([
    [
      'listen: [{ address: "[::]:80" }, { address: a.example:81 }]',
      ['listen'],
      [
        { host: '::', port: 80, tls: null, http2: false, proxyProtocol: [], redirect: null, hsts: null },
        { host: 'a.example', port: 81, tls: null, http2: false, proxyProtocol: [], redirect: null, hsts: null },
      ],
    ],
    ['admin: { address: 0.0.0.0:9901, token: x }', ['admin'], { host: '0.0.0.0', port: 9901, token: 'x' }],
    ['admin: { address: "[::1]:9901" }', ['admin', 'host'], '::1'],
    ['workers: 3', ['workers'], 3],
    [
      'trustedProxies: [10.0.0.0/8, fd00::/8, 192.0.2.7, "::1", 0.0.0.0/0]',
      ['trustedProxies'],
      ['10.0.0.0/8', 'fd00::/8', '192.0.2.7/32', '::1/128', '0.0.0.0/0'],
    ],
    ['limits: { body: 2GiB, headers: 64KiB }', ['limits', 'bodyBytes'], 2 * KIB ** 3],
    [
      'log: { level: silent, access: false }',
      ['log'],
      { level: 'silent', format: 'json', file: '', access: false, accessFormat: 'json' },
    ],
    ['tracing: off', ['workers'], 'auto'],
    [
      'degradedCache: { maxBytes: 64KiB, maxEntryBytes: 1KiB }',
      ['degradedCache'],
      { maxBytes: 64 * KIB, maxEntryBytes: KIB },
    ],
    ['degradedCache: { maxBytes: 1MiB }', ['degradedCache', 'maxEntryBytes'], KIB * KIB],
  ])('%s', (text, path, value) => {
    expect(valid(checkGateway(text))).toHaveProperty(path, value);
  });
});

describe('refused values, each with its place and what was expected', () => {
  it.each([
    [
      '[]',
      '1:1: wrong type (a list), expected a mapping with listen, admin, workers, routes, trustedProxies, discovery, limits, timeouts, shutdown, log, degradedCache, tracing',
    ],
    ['listen: []', '1:9 listen: empty, expected a list of listeners, each with an address, not empty'],
    ['listen: [{}]', '1:10 listen[0].address: missing, expected an address like 127.0.0.1:8080 or "[::1]:8080"'],
    [
      'listen: [{ address: 8080 }]',
      '1:21 listen[0].address: wrong type (a number), expected an address like 127.0.0.1:8080 or "[::1]:8080"',
    ],
    [
      'listen: [{ address: "::1:80" }]',
      '1:21 listen[0].address: not valid, expected an address like 127.0.0.1:8080 or "[::1]:8080"',
    ],
    [
      'listen: [{ address: "a:0" }]',
      '1:21 listen[0].address: not valid, expected an address like 127.0.0.1:8080 or "[::1]:8080"',
    ],
    [
      'admin: { address: 0.0.0.0:1 }',
      '1:19 admin.address: not a loopback address, expected admin.token to be set as well',
    ],
    ['admin: { token: "a b" }', '1:17 admin.token: not valid, expected visible ASCII characters without spaces'],
    ['workers: 0', '1:10 workers: out of range, expected a whole number from 1 to 1024'],
    ['workers: 1.5', '1:10 workers: not valid, expected auto or a whole number from 1 to 1024'],
    ['workers: atuo', '1:10 workers: not valid, expected auto or a whole number from 1 to 1024, did you mean "auto"?'],
    ['routes: ""', '1:9 routes: not valid, expected a folder, relative to this file'],
    [
      'trustedProxies: [10.0.0.0/33]',
      '1:18 trustedProxies[0]: not valid, expected a network like 10.0.0.0/8 or fd00::/8',
    ],
    [
      'trustedProxies: [example.com]',
      '1:18 trustedProxies[0]: not valid, expected a network like 10.0.0.0/8 or fd00::/8',
    ],
    ['limits: { body: 10MB }', '1:17 limits.body: not valid, expected a size like 64KiB or 10MiB, or off'],
    [
      'limits: { requestLine: 5constructor }',
      '1:24 limits.requestLine: not valid, expected a size like 64KiB or 10MiB',
    ],
    ['limits: { requestLine: 2MiB }', '1:24 limits.requestLine: out of range, expected 64B to 1MiB'],
    ['limits: { headerCount: .nan }', '1:24 limits.headerCount: not valid, expected a whole number from 1 to 10000'],
    ['timeouts: { write: 577h }', '1:20 timeouts.write: out of range, expected 1ms to 576h'],
    ['timeouts: { keepAlive: off }', '1:24 timeouts.keepAlive: not valid, expected a duration like 5s or 250ms'],
    ['log: { access: yes }', '1:16 log.access: wrong type (text), expected true or false'],
    [
      'log: { level: Info }',
      '1:15 log.level: unknown value, expected trace, debug, info, warn, error, fatal or silent, did you mean "info"?',
    ],
    ['limits:\n  bdy: 1MiB', '2:3 limits.bdy: unknown key, did you mean "body"?'],
    ['agents: []', '1:1 agents: unknown key, did you mean "discovery.consul.agents"?'],
    ['degradedCache: { maxEntryBytes: 65MiB }', '1:33 degradedCache.maxEntryBytes: more than maxBytes'],
    ['degradedCache: { maxBytes: 1KiB }', '1:28 degradedCache.maxBytes: out of range, expected 64KiB to 64GiB'],
    ['degradedCache: off', '1:16 degradedCache: wrong type (text), expected a mapping with maxBytes, maxEntryBytes'],
  ])('%s', (text, problem) => {
    expect(problemLines(checkGateway(text))).toEqual([`g.yaml:${problem}`]);
  });
});

describe('all problems of a file', () => {
  it('are found at once', () => {
    const text = 'workers: 0\nadmin: { token: 1, adress: x }\nlimits: { body: 1 }\ndiscovery: { consul: { wait: 1 } }';
    const places = problemLines(checkGateway(text)).map((line) => line.split(': ')[0]);
    expect(places.toSorted()).toEqual([
      'g.yaml:1:10 workers',
      'g.yaml:2:17 admin.token',
      'g.yaml:2:20 admin.adress',
      'g.yaml:3:17 limits.body',
      'g.yaml:4:30 discovery.consul.wait',
    ]);
  });
});

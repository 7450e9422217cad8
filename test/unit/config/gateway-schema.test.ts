// gateway.yaml: its defaults, what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { checkGateway, problemLines, valid } from './checking.ts';

const MINUTE = 60_000;
const KIB = 1024;

describe('an empty gateway.yaml', () => {
  it('has every default of the contract (SPEC 2.1)', () => {
    expect(valid(checkGateway(''))).toEqual({
      listen: [{ host: '0.0.0.0', port: 8080 }],
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
    });
  });

  it('is plain data that can be sent to a worker', () => {
    const gateway = valid(checkGateway('limits: { body: off }'));
    expect(structuredClone(gateway)).toEqual(gateway);
    expect(gateway.limits.bodyBytes).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the embedded registry', () => {
  it('is not started unless it is there, and then has its defaults', () => {
    expect(valid(checkGateway('')).discovery).not.toHaveProperty('embeddedRegistry');
    expect(valid(checkGateway('discovery: { embeddedRegistry: {} }')).discovery.embeddedRegistry).toEqual({
      host: '127.0.0.1',
      port: 8510,
      store: { kind: 'sqlite', path: 'data/registry.db' },
      secret: '',
    });
  });

  it('may live in memory', () => {
    const text = 'discovery: { embeddedRegistry: { store: "sqlite::memory:" } }';
    expect(valid(checkGateway(text)).discovery.embeddedRegistry?.store).toEqual({
      kind: 'sqlite',
      path: ':memory:',
    });
  });

  it('may live in MySQL', () => {
    const text = 'discovery: { embeddedRegistry: { store: "mysql://weir:p%40ss@db.example/weir" } }';
    expect(valid(checkGateway(text)).discovery.embeddedRegistry?.store).toEqual({
      kind: 'mysql',
      host: 'db.example',
      port: 3306,
      user: 'weir',
      password: 'p@ss',
      database: 'weir',
    });
  });

  it('listens on another address than loopback only with a secret', () => {
    const text = 'discovery: { embeddedRegistry: { address: "0.0.0.0:8510", secret: s3cret } }';
    expect(valid(checkGateway(text)).discovery.embeddedRegistry).toMatchObject({ host: '0.0.0.0', secret: 's3cret' });
    expect(problemLines(checkGateway('discovery: { embeddedRegistry: { address: "0.0.0.0:8510" } }'))).toEqual([
      'g.yaml:1:43 discovery.embeddedRegistry.address: not a loopback address, expected secret to be set as well',
    ]);
  });
});

describe('accepted values', () => {
  it.each([
    [
      'listen: [{ address: "[::]:80" }, { address: a.example:81 }]',
      ['listen'],
      [
        { host: '::', port: 80 },
        { host: 'a.example', port: 81 },
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
    ['discovery: { source: registry }', ['discovery', 'source'], 'registry'],
    ['discovery: { source: dns }', ['discovery', 'source'], 'dns'],
    ['discovery: { source: etcd }', ['discovery', 'source'], 'etcd'],
    [
      'discovery: { dns: { resolver: 127.0.0.1:8600, name: "_http._tcp.{service}.test", minTtl: 5s, maxTtl: 5s } }',
      ['discovery', 'dns'],
      {
        resolver: '127.0.0.1:8600',
        type: 'srv',
        name: '_http._tcp.{service}.test',
        port: null,
        minTtlMs: 5000,
        maxTtlMs: 5000,
      },
    ],
    ['discovery: { dns: { resolver: 10.0.0.2 } }', ['discovery', 'dns', 'resolver'], '10.0.0.2:53'],
    ['discovery: { dns: { resolver: "::1" } }', ['discovery', 'dns', 'resolver'], '[::1]:53'],
    ['discovery: { dns: { resolver: "[::1]:8600" } }', ['discovery', 'dns', 'resolver'], '[::1]:8600'],
    ['discovery: { dns: { type: a, port: 80 } }', ['discovery', 'dns', 'port'], 80],
    ['discovery: { dns: { type: aaaa, port: 80 } }', ['discovery', 'dns', 'type'], 'aaaa'],
    [
      'discovery: { etcd: { endpoints: ["http://a:2379/", https://b:2379], prefix: "", username: u, password: "p ä" } }',
      ['discovery', 'etcd'],
      {
        endpoints: ['http://a:2379', 'https://b:2379'],
        prefix: '',
        username: 'u',
        password: 'p ä',
        tls: { ca: '', cert: '', key: '' },
      },
    ],
    [
      'discovery: { consul: { agents: ["http://a:8500/", "HTTP://[::1]:8500", http://b] } }',
      ['discovery', 'consul', 'agents'],
      ['http://a:8500', 'http://[::1]:8500', 'http://b'],
    ],
    [
      'discovery: { consul: { agents: [https://a:8501, "HTTPS://b/", http://c] } }',
      ['discovery', 'consul', 'agents'],
      ['https://a:8501', 'https://b', 'http://c'],
    ],
    [
      'discovery: { consul: { agents: [https://a:8501], tls: { ca: a.pem } } }',
      ['discovery', 'consul', 'tls'],
      { ca: 'a.pem', cert: '', key: '' },
    ],
    [
      'discovery: { consul: { wait: 10m, consistency: stale, accept: [passing, warning] } }',
      ['discovery', 'consul', 'waitMs'],
      600_000,
    ],
    ['discovery: { confirmEmpty: 0s, holdLastGood: 1.5h }', ['discovery', 'holdLastGoodMs'], 90 * MINUTE],
    ['limits: { body: 2GiB, headers: 64KiB }', ['limits', 'bodyBytes'], 2 * KIB ** 3],
    [
      'log: { level: silent, access: false }',
      ['log'],
      { level: 'silent', format: 'json', file: '', access: false, accessFormat: 'json' },
    ],
    ['tracing: off', ['workers'], 'auto'],
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
    [
      'discovery: { source: consol }',
      '1:22 discovery.source: unknown value, expected consul, registry, dns or etcd, did you mean "consul"?',
    ],
    [
      'discovery: { consul: { agents: http://a:1 } }',
      '1:32 discovery.consul.agents: wrong type (text), expected a list of URLs like http://127.0.0.1:8500, not empty',
    ],
    [
      'discovery: { consul: { agents: ["http://u:p@a:1"] } }',
      '1:33 discovery.consul.agents[0]: not valid, expected a URL like http://127.0.0.1:8500, without path',
    ],
    [
      'discovery: { consul: { agents: ["http://a:1/v1"] } }',
      '1:33 discovery.consul.agents[0]: not valid, expected a URL like http://127.0.0.1:8500, without path',
    ],
    [
      'discovery: { consul: { agents: ["a:1"] } }',
      '1:33 discovery.consul.agents[0]: not valid, expected a URL like http://127.0.0.1:8500, without path',
    ],
    [
      'discovery: { consul: { tls: { ca: a.pem } } }',
      '1:35 discovery.consul.tls.ca: no server is https, expected one like https://127.0.0.1:8501',
    ],
    [
      'discovery: { consul: { agents: [https://a], tls: { cert: a.pem } } }',
      '1:58 discovery.consul.tls.cert: a cert without key, expected key to be set as well',
    ],
    [
      'discovery: { consul: { agents: [https://a], tls: { key: a.key } } }',
      '1:57 discovery.consul.tls.key: a key without cert, expected cert to be set as well',
    ],
    [
      'discovery: { consul: { datacenter: "a b" } }',
      '1:36 discovery.consul.datacenter: not valid, expected a datacenter name, or "" for that of the agent',
    ],
    [
      'discovery: { consul: { accept: [critical] } }',
      '1:33 discovery.consul.accept[0]: unknown value, expected passing or warning',
    ],
    [
      'discovery: { dns: { resolver: dns.example:53 } }',
      '1:31 discovery.dns.resolver: not valid, expected an IP address like 127.0.0.1:8600, or ""',
    ],
    [
      'discovery: { dns: { name: service.consul } }',
      '1:27 discovery.dns.name: not valid, expected a DNS name with {service} in it, like {service}.service.consul',
    ],
    [
      'discovery: { dns: { name: "{service}..consul" } }',
      '1:27 discovery.dns.name: not valid, expected a DNS name with {service} in it, like {service}.service.consul',
    ],
    ['discovery: { dns: { type: mx } }', '1:27 discovery.dns.type: unknown value, expected srv, a or aaaa'],
    [
      'discovery: { dns: { type: a } }',
      '1:27 discovery.dns.type: a records have no port, expected port to be set as well',
    ],
    [
      'discovery: { dns: { port: 80 } }',
      '1:27 discovery.dns.port: a port beside the type srv, expected none: the records have it',
    ],
    [
      'discovery: { dns: { type: a, port: 0 } }',
      '1:36 discovery.dns.port: out of range, expected a whole number from 1 to 65535',
    ],
    ['discovery: { dns: { minTtl: 2m } }', '1:29 discovery.dns.minTtl: more than maxTtl'],
    ['discovery: { dns: { maxTtl: 1ms } }', '1:29 discovery.dns.maxTtl: out of range, expected 100ms to 576h'],
    [
      'discovery: { etcd: { endpoints: [] } }',
      '1:33 discovery.etcd.endpoints: empty, expected a list of URLs like http://127.0.0.1:2379, not empty',
    ],
    [
      'discovery: { etcd: { endpoints: ["http://a:2379/v3"] } }',
      '1:34 discovery.etcd.endpoints[0]: not valid, expected a URL like http://127.0.0.1:8500, without path',
    ],
    [
      'discovery: { etcd: { prefix: /services } }',
      '1:30 discovery.etcd.prefix: not valid, expected visible ASCII characters with a final "/", or ""',
    ],
    [
      'discovery: { etcd: { password: 1 } }',
      '1:32 discovery.etcd.password: wrong type (a number), expected a password',
    ],
    [
      'discovery: { embeddedRegistry: { store: data.db } }',
      '1:41 discovery.embeddedRegistry.store: not valid, expected a store like sqlite:data/registry.db or mysql://user:password@host/database',
    ],
    [
      'discovery:\n  embeddedRegistry:',
      '2:20 discovery.embeddedRegistry: no value, expected a mapping with address, store, secret',
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
  ])('%s', (text, problem) => {
    expect(problemLines(checkGateway(text))).toEqual([`g.yaml:${problem}`]);
  });

  // Case 87: a wait without a unit was sent to Consul as it was.
  it.each([
    ['60', 'wrong type (a number), expected a duration like 5s or 250ms'],
    ['"60"', 'not valid, expected a duration like 5s or 250ms'],
    ['0s', 'out of range, expected 1s to 10m'],
    ['601s', 'out of range, expected 1s to 10m'],
  ])('a Consul wait of %s (case 87)', (wait, wrong) => {
    const text = `discovery: { consul: { wait: ${wait} } }`;
    expect(problemLines(checkGateway(text))).toEqual([`g.yaml:1:30 discovery.consul.wait: ${wrong}`]);
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

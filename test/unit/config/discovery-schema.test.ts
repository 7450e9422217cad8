// The `discovery` section of gateway.yaml: what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { checkGateway, problemLines, valid } from './checking.ts';

const MINUTE = 60_000;

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
  ])('%s', (text, path, value) => {
    expect(valid(checkGateway(text))).toHaveProperty(path, value);
  });
});

describe('refused values, each with its place and what was expected', () => {
  it.each([
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

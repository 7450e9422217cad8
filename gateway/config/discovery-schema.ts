// The `discovery` section of gateway.yaml: the sources of endpoints, and how much an empty answer is believed.
import { isLoopback } from '../core/address.ts';
import { choice, duration, filePath, list, pattern, refuse, secret, section, text, whole } from './fields.ts';
import { dnsTemplate, listenAddress, resolverAddress, webOrigin } from './net-fields.ts';
import { parseStoreUrl, STORE_URL } from './store-url.ts';

/** The discovery sources by name. */
export const sourceName = choice(['consul', 'registry', 'dns', 'etcd']);

const optionalFile = pattern('a file name, or ""', /^[^\0]*$/);

const store = text(STORE_URL, parseStoreUrl);

type TlsFiles = Readonly<Record<'ca' | 'cert' | 'key', string>>;

const tlsFiles = section({
  ca: optionalFile
    .prefault('')
    .describe('Authorities that may sign the certificates of servers; empty = those of Node.'),
  cert: optionalFile.prefault('').describe('Client certificate, with its chain; empty = none.'),
  key: optionalFile.prefault('').describe('Private key of the client certificate; empty = none.'),
}).transform((files, checking) => {
  const [given, missing] = files.cert === '' ? (['key', 'cert'] as const) : (['cert', 'key'] as const);
  if (files[given] !== '' && files[missing] === '') {
    refuse(checking, {
      wrong: `a ${given} without ${missing}`,
      expected: `${missing} to be set as well`,
      path: [given],
    });
  }
  return files;
});

/** Files for TLS mean nothing to servers that are all asked without it. */
function refuseUnusedTls(checking: Parameters<typeof refuse>[0], servers: readonly string[], files: TlsFiles): void {
  const key = (['ca', 'cert', 'key'] as const).find((each) => files[each] !== '');
  if (key === undefined || servers.some((server) => server.startsWith('https:'))) return;
  refuse(checking, { wrong: 'no server is https', expected: 'one like https://127.0.0.1:8501', path: ['tls', key] });
}

const consul = section({
  agents: list(webOrigin, { of: 'URLs like http://127.0.0.1:8500', min: 1 })
    .prefault(['http://127.0.0.1:8500'])
    .describe('Agents of ONE cluster, tried in this order.'),
  token: secret.prefault('').describe('ACL token, sent as X-Consul-Token; empty = none.'),
  datacenter: pattern('a datacenter name, or "" for that of the agent', /^[A-Za-z0-9_-]{0,64}$/)
    .prefault('')
    .describe('Datacenter to ask for; empty = that of the agent.'),
  wait: duration({ min: '1s', max: '10m' }).prefault('60s').describe('Longest wait of a blocking query; 1s to 10m.'),
  consistency: choice(['default', 'stale', 'consistent']).default('default').describe('Consistency mode of queries.'),
  accept: list(choice(['passing', 'warning']), { of: 'passing or warning', min: 1 })
    .default(['passing'])
    .describe('Instance states that take traffic; a warning instance does so with its warning weight.'),
  tls: tlsFiles.prefault({}).describe('TLS to https agents; all files are in PEM, relative to the working directory.'),
}).transform(({ wait, ...rest }, checking) => {
  refuseUnusedTls(checking, rest.agents, rest.tls);
  return { ...rest, waitMs: wait };
});

const registry = section({
  url: webOrigin.prefault('http://127.0.0.1:8510').describe('The table registry to ask.'),
  interval: duration({ min: '100ms' }).prefault('5s').describe('Time between two questions.'),
}).transform(({ url, interval }) => ({ url, intervalMs: interval }));

const dns = section({
  resolver: resolverAddress
    .prefault('')
    .describe('The resolver to ask, like 127.0.0.1:8600; empty = those of the system.'),
  type: choice(['srv', 'a', 'aaaa'])
    .default('srv')
    .describe('Records to ask for; srv has ports, priorities and weights, the others need `port`.'),
  name: dnsTemplate.prefault('{service}').describe('The DNS name of a service, like {service}.service.consul.'),
  port: whole({ min: 1, max: 65_535 }).exactOptional().describe('Port of the endpoints, for type a and aaaa.'),
  minTtl: duration({ min: '100ms' }).prefault('1s').describe('Records are asked for again no sooner than this.'),
  maxTtl: duration({ min: '100ms' }).prefault('60s').describe('Records are asked for again no later than this.'),
}).transform(({ resolver, type, name, port, minTtl, maxTtl }, checking) => {
  if (type === 'srv' && port !== undefined) {
    refuse(checking, { wrong: 'a port beside the type srv', expected: 'none: the records have it', path: ['port'] });
  }
  if (type !== 'srv' && port === undefined) {
    refuse(checking, { wrong: `${type} records have no port`, expected: 'port to be set as well', path: ['type'] });
  }
  if (minTtl > maxTtl) refuse(checking, { wrong: 'more than maxTtl', path: ['minTtl'] });
  return { resolver, type, name, port: port ?? null, minTtlMs: minTtl, maxTtlMs: maxTtl };
});

const etcd = section({
  endpoints: list(webOrigin, { of: 'URLs like http://127.0.0.1:2379', min: 1 })
    .prefault(['http://127.0.0.1:2379'])
    .describe('Members of ONE cluster, tried in this order.'),
  prefix: pattern('visible ASCII characters with a final "/", or ""', /^(?:[\x21-\x7e]*\/)?$/)
    .prefault('/services/')
    .describe('What keys begin with: <prefix><service>/<instance>.'),
  username: text('the name of a user', (written) => written)
    .prefault('')
    .describe('Who asks; empty = nobody.'),
  password: text('a password', (written) => written)
    .prefault('')
    .describe('The password of that user.'),
  tls: tlsFiles
    .prefault({})
    .describe('TLS to https endpoints; all files are in PEM, relative to the working directory.'),
}).transform((settings, checking) => {
  refuseUnusedTls(checking, settings.endpoints, settings.tls);
  return settings;
});

const embeddedRegistry = section({
  address: listenAddress
    .prefault('127.0.0.1:8510')
    .describe('Where the registry listens; other than loopback needs a secret.'),
  store: store
    .prefault('sqlite:data/registry.db')
    .describe(
      'Where it keeps its table: sqlite:FILE, relative to the working directory, or mysql://USER:PASSWORD@HOST/DB.',
    ),
  secret: secret
    .prefault('')
    .describe('What those who register must send as bearer token; empty = nothing. Reading needs none.'),
}).transform(({ address, store, secret }, checking) => {
  if (secret === '' && !isLoopback(address.host)) {
    refuse(checking, { wrong: 'not a loopback address', expected: 'secret to be set as well', path: ['address'] });
  }
  return { ...address, store, secret };
});

const snapshot = section({
  path: filePath('a file name').prefault('data/snapshot.json').describe('The file, relative to the working directory.'),
  maxAge: duration({ min: '0s', max: '8760h' }).prefault('24h').describe('Older snapshots are not used.'),
}).transform(({ path, maxAge }) => ({ path, maxAgeMs: maxAge }));

/** The `discovery` section. */
export const discovery = section({
  source: sourceName.default('consul').describe('The source of every route that names none.'),
  consul: consul.prefault({}).describe('Consul as a source.'),
  registry: registry.prefault({}).describe('The table registry as a source.'),
  dns: dns.prefault({}).describe('DNS as a source.'),
  etcd: etcd.prefault({}).describe('etcd (API v3) as a source.'),
  embeddedRegistry: embeddedRegistry.exactOptional().describe('The table registry inside the gateway; absent: none.'),
  snapshot: snapshot.prefault({}).describe('The last known endpoints on disk, for a restart while the source is down.'),
  confirmEmpty: duration({ min: '0s' })
    .prefault('2s')
    .describe('After this time an empty answer is asked for again before it empties a pool.'),
  holdLastGood: duration({ min: '0s' })
    .prefault('10m')
    .describe('How long the last good endpoints outlive an empty answer that cannot be trusted.'),
}).transform(({ confirmEmpty, holdLastGood, ...rest }) => {
  return { ...rest, confirmEmptyMs: confirmEmpty, holdLastGoodMs: holdLastGood };
});

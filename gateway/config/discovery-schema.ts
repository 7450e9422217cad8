// The `discovery` section of gateway.yaml: the sources of endpoints, and how much an empty answer is believed.
import { choice, duration, filePath, LATER, list, notYet, pattern, secret, section, text } from './fields.ts';
import { listenAddress, originText } from './net-fields.ts';

/** The discovery sources by name. */
export const sourceName = choice(['consul', 'registry']);

const store = text('a store like sqlite:data/registry.db', (written) => {
  if (/^mysql:\/\//i.test(written)) return LATER;
  const path = /^sqlite:(.+)$/.exec(written)?.[1];
  return path === undefined ? undefined : { kind: 'sqlite' as const, path };
});

const consul = section({
  agents: list(originText, { of: 'URLs like http://127.0.0.1:8500', min: 1 })
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
  tls: notYet,
}).transform(({ wait, tls: _tls, ...rest }) => ({ ...rest, waitMs: wait }));

const registry = section({
  url: originText.prefault('http://127.0.0.1:8510').describe('The table registry to ask.'),
  interval: duration({ min: '100ms' }).prefault('5s').describe('Time between two questions.'),
}).transform(({ url, interval }) => ({ url, intervalMs: interval }));

const embeddedRegistry = section({
  address: listenAddress.prefault('127.0.0.1:8510').describe('Where the registry listens.'),
  store: store
    .prefault('sqlite:data/registry.db')
    .describe('Where it keeps its table: sqlite:FILE, relative to the working directory.'),
}).transform(({ address, store }) => ({ ...address, store }));

const snapshot = section({
  path: filePath('a file name').prefault('data/snapshot.json').describe('The file, relative to the working directory.'),
  maxAge: duration({ min: '0s', max: '8760h' }).prefault('24h').describe('Older snapshots are not used.'),
}).transform(({ path, maxAge }) => ({ path, maxAgeMs: maxAge }));

/** The `discovery` section. */
export const discovery = section({
  source: sourceName.default('consul').describe('The source of every route that names none.'),
  consul: consul.prefault({}).describe('Consul as a source.'),
  registry: registry.prefault({}).describe('The table registry as a source.'),
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

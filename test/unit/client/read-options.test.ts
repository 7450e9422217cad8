import { describe, expect, it } from 'vitest';
import type { DiscoveryDispatcherOptions, ServiceOptions } from '../../../gateway/client/options.ts';
import { readOptions } from '../../../gateway/client/read-options.ts';

/** Every option of a service that a type allows, with another value than its default. */
const EVERYTHING: ServiceOptions = {
  source: 'registry',
  protocol: 'https',
  balance: { policy: 'consistent_hash', hash: { on: 'header', name: 'X-User', boundedLoad: 'off' } },
  subset: { tags: ['v2'], meta: { zone: 'a' } },
  split: [{ weight: 9 }, { weight: 1, tags: ['canary'], when: { header: 'X-Canary', equals: '1' } }],
  timeout: { connect: '1s', response: '2s', idle: '3s', total: '4s' },
  retry: { attempts: 2, on: ['connect'], statuses: [503], bodyBuffer: '1KiB', budget: '50%', minPerSecond: 1 },
  ejection: {
    consecutiveFailures: 2,
    failurePercent: 'off',
    minRequests: 3,
    window: '5s',
    slowerThan: 3,
    base: '1s',
    max: '10s',
    maxPercent: 30,
    statuses: [503],
  },
  slowStart: { window: '10s', minPercent: 20 },
  breaker: { failurePercent: 60, minRequests: 10, window: '20s', open: '2s', probes: 1 },
};

/** What JavaScript may give, whatever the types say. */
function isOptions(_value: unknown): _value is DiscoveryDispatcherOptions {
  return true;
}

function problemsOf(options: unknown): string[] {
  try {
    if (isOptions(options)) readOptions(options);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'WEIR_BAD_OPTIONS') throw error;
    return error.message.split('\n  ').slice(1);
  }
  return [];
}

describe('the options of the dispatcher', () => {
  it('have the defaults of the gateway', () => {
    const { gateway, routes, readyTimeoutMs } = readOptions({ consul: {}, services: ['order-service'] });
    expect(gateway.discovery.consul.agents).toEqual(['http://127.0.0.1:8500']);
    expect(gateway.discovery).toMatchObject({ confirmEmptyMs: 2000, holdLastGoodMs: 600_000 });
    expect(readyTimeoutMs).toBe(5000);
    expect(routes).toMatchObject([
      {
        service: 'order-service',
        source: 'consul',
        protocol: 'http',
        balance: { policy: 'weighted_round_robin' },
        timeout: { connectMs: 2000, responseMs: 30_000, idleMs: 60_000, totalMs: Number.POSITIVE_INFINITY },
        retry: { attempts: 3, statuses: [502, 503, 504], bodyBufferBytes: 65_536, budgetPercent: 20 },
        ejection: { consecutiveFailures: 5, statuses: [500, 502, 503, 504] },
        breaker: null,
      },
    ]);
  });

  it('may say everything of a service that its type has', () => {
    const { routes } = readOptions({ consul: {}, registry: {}, services: { s: EVERYTHING } });
    expect(routes[0]).toMatchObject({
      source: 'registry',
      protocol: 'https',
      balance: {
        policy: 'consistent_hash',
        hash: { on: 'header', name: 'x-user', boundedLoad: Number.POSITIVE_INFINITY },
      },
      subset: { tags: ['v2'], meta: { zone: 'a' } },
      split: [{ weight: 9 }, { weight: 1, tags: ['canary'], when: { on: 'header', name: 'x-canary', equals: '1' } }],
      timeout: { connectMs: 1000, responseMs: 2000, idleMs: 3000, totalMs: 4000 },
      retry: {
        attempts: 2,
        on: ['connect'],
        statuses: [503],
        bodyBufferBytes: 1024,
        budgetPercent: 50,
        minPerSecond: 1,
      },
      ejection: { consecutiveFailures: 2, minRequests: 3, slowerThan: 3, baseMs: 1000, maxMs: 10_000, maxPercent: 30 },
      slowStart: { windowMs: 10_000, minPercent: 20 },
      breaker: { failurePercent: 60, minRequests: 10, windowMs: 20_000, openMs: 2000, probes: 1 },
    });
  });

  it('may name several sources, of which each service takes one', () => {
    const services = { a: { source: 'consul' }, b: { source: 'etcd' }, c: { endpoints: ['10.0.0.1:80'] } } as const;
    const { routes } = readOptions({ consul: {}, etcd: {}, services });
    expect(routes.map(({ service, source }) => [service, source])).toEqual([
      ['a', 'consul'],
      ['b', 'etcd'],
      ['c', 'static'],
    ]);
  });

  it('may have keys without a value', () => {
    const options = { consul: { token: undefined }, registry: undefined, services: { s: { retry: undefined } } };
    expect(problemsOf(options)).toEqual([]);
  });

  it.each<[string, unknown, string[]]>([
    [
      'no services',
      { consul: {} },
      ['services: not valid, expected a list of names, or an object with options by name; not empty'],
    ],
    [
      'no service',
      { consul: {}, services: [] },
      ['services: not valid, expected a list of names, or an object with options by name; not empty'],
    ],
    [
      'no source',
      { services: ['s'] },
      ['services.s: no source, expected consul, registry, dns, etcd of the dispatcher to be set'],
    ],
    [
      'two sources and none chosen',
      { consul: {}, etcd: {}, services: ['s'] },
      ['services.s.source: missing, expected consul or etcd: both are set'],
    ],
    [
      'a source without its options',
      { consul: {}, services: { s: { source: 'etcd' } } },
      ['services.s.source: the option etcd is missing'],
    ],
    [
      'a misspelt key',
      { consul: {}, services: ['s'], readyTimeot: '1s' },
      ['readyTimeot: unknown key, did you mean "readyTimeout"?'],
    ],
    [
      'a misspelt key of a source',
      { consul: { tokn: 'x' }, services: ['s'] },
      ['consul.tokn: unknown key, did you mean "token"?'],
    ],
    [
      'a misspelt key of a service',
      { consul: {}, services: { s: { retri: {} } } },
      ['services.s.retri: unknown key, did you mean "retry"?'],
    ],
    [
      'a name with a blank',
      { consul: {}, services: { 'a b': {} } },
      [
        'services["a b"]: not valid, expected a name that can be the host of a URL',
        'services["a b"]: not valid, expected a name of letters, digits, ".", "_" and "-", at most 128',
      ],
    ],
    [
      'a number for a duration',
      { consul: {}, services: ['s'], readyTimeout: 5 },
      ['readyTimeout: not valid, expected a duration like 5s or 250ms'],
    ],
    [
      'a number for a duration of a service',
      { consul: {}, services: { s: { timeout: { response: 3 } } } },
      ['services.s.timeout.response: wrong type (a number), expected a duration like 5s or 250ms'],
    ],
    [
      'what only a gateway can do',
      { consul: {}, services: { s: { rateLimit: [], fallback: {} } } },
      ['services.s.rateLimit: unknown key', 'services.s.fallback: unknown key'],
    ],
    [
      'an address that is no name',
      { consul: {}, services: ['shop.1'] },
      ['services["shop.1"]: not valid, expected a name that can be the host of a URL'],
    ],
    [
      'two names for one host',
      { consul: {}, services: ['Shop', 'shop'] },
      ['services.shop: the same host in a URL as Shop'],
    ],
    [
      'the address of a client',
      { consul: {}, services: { s: { balance: { policy: 'consistent_hash', hash: { on: 'client_ip' } } } } },
      ['services.s.balance.hash.on: there is no client here'],
    ],
    [
      'a log that is none',
      { consul: {}, services: ['s'], log: console.log },
      ['log: not valid, expected an object with debug, info, warn, error'],
    ],
    [
      'a fallback that is none',
      { consul: {}, services: ['s'], fallback: {} },
      ['fallback: not valid, expected a dispatcher of undici'],
    ],
  ])('are refused: %s', (_what, options, problems) => {
    expect(problemsOf(options)).toEqual(problems);
  });

  it('refuse protocols that undici is not asked to speak', () => {
    const problems = problemsOf({ consul: {}, services: { s: { protocol: 'h2' } } });
    expect(problems).toEqual([expect.stringMatching(/^services\.s\.protocol: not supported/)]);
  });

  it('never show a value, which could be a secret', () => {
    expect(problemsOf({ consul: { token: 'geheim mit Leerzeichen' }, services: ['s'] }).join()).not.toContain('geheim');
  });
});

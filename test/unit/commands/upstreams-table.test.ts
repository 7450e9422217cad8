import { describe, expect, it } from 'vitest';
import type { ServiceDocument } from '../../../gateway/admin/upstreams-document.ts';
import { paintFor } from '../../../gateway/commands/terminal.ts';
import { readDocument, readUpstreams } from '../../../gateway/commands/upstreams-page.ts';
import { upstreamsLines } from '../../../gateway/commands/upstreams-table.ts';
import type { EndpointView } from '../../../gateway/pool/view.ts';

const ENDPOINT: EndpointView = {
  endpoint: '10.0.0.5:8080',
  instances: ['a'],
  weight: 4,
  effectiveWeight: 4,
  status: 'passing',
  state: 'active',
  why: null,
  until: null,
  tags: [],
  meta: {},
  inFlight: 3,
  requests: 1203,
  failures: 0,
  ejections: 0,
  latencyMs: 4.1,
};

const SERVICE: ServiceDocument = {
  service: 'order-service',
  source: 'consul',
  state: 'healthy',
  index: '1',
  lastSuccess: null,
  ageSeconds: 1.2,
  lastError: null,
  policy: 'weighted_round_robin',
  breaker: 'closed',
  breakerUntil: null,
  maintenance: null,
  degradedSince: null,
  degradedReason: null,
  skippedRecords: 0,
  endpoints: [ENDPOINT],
};

function pageOf(services: readonly object[], gateway: object = {}): string {
  return JSON.stringify({
    gateway: {
      version: '0.1.0',
      pid: 4711,
      startedAt: '2026-11-29T10:00:00.000Z',
      uptimeSeconds: 7384,
      leader: { worker: 1, term: 1 },
      workers: [{ id: 1 }, { id: 2 }],
      ...gateway,
    },
    snapshot: { version: 7, takenAt: null, from: 'consul' },
    services,
  });
}

function linesOf(services: readonly object[], isColoured = false, gateway: object = {}): string[] {
  const page = readUpstreams(pageOf(services, gateway));
  if (page === undefined) throw new Error('it was not read');
  return upstreamsLines(page, page.services, paintFor(isColoured, {}));
}

describe('the listeners above the table', () => {
  const certificate = (names: string[], days: number, problem: string | null = null) => {
    const notAfter = new Date(Date.parse('2026-11-29T12:03:04Z') + days * 86_400_000).toISOString();
    return { certificate: 'a.pem', names, notAfter, problem };
  };
  const shown = (listeners: unknown) => linesOf([SERVICE], false, { listeners }).slice(1, -3);

  it('show their certificates, the ones that expire first', () => {
    const certificates = [
      certificate(['a', '*.a'], 80),
      certificate(['b'], -1, 'b.key: \u001b[2J'),
      certificate([], 3),
    ];
    expect(
      shown([
        { address: '0.0.0.0:443', tls: true, certificates },
        { address: 'a:80', tls: false, certificates: [] },
      ]),
    ).toEqual([
      '0.0.0.0:443 TLS: b, expired',
      '0.0.0.0:443 TLS: no name, expires in 3d',
      '0.0.0.0:443 TLS: a, *.a, expires in 80d',
      'b.key: \\u{1b}[2J',
      '',
    ]);
  });

  it('show no more than a few, and none of a gateway that does not tell', () => {
    const certificates = Array.from({ length: 9 }, (_, at) => certificate([`a${at}`], 20 + at));
    expect(shown([{ address: 'a:443', tls: true, certificates }]).at(-2)).toBe('a:443 TLS: and 4 more certificates');
    for (const listeners of [undefined, null, 'x', [null], [{ address: 'a:1' }]])
      expect(shown(listeners)).toEqual(['']);
  });
});

describe('the table of pools', () => {
  it('has a line for the gateway, one for each service and one for each endpoint', () => {
    const ejected = {
      ...ENDPOINT,
      endpoint: '10.0.0.17:18080',
      effectiveWeight: 0,
      state: 'ejected',
      why: 'ejected: 5 failures in a row, the last: connection refused',
      until: '2026-11-29T12:03:12.000Z',
      failures: 12,
      latencyMs: null,
    };
    const troubled = {
      ...SERVICE,
      service: 'web',
      source: 'dns',
      state: 'stale',
      ageSeconds: null,
      lastError: 'SERVFAIL',
      breaker: 'open',
      breakerUntil: '2026-11-29T12:03:09.000Z',
      maintenance: { since: '2026-11-29T12:00:00.000Z', reason: 'new disks' },
      degradedSince: '2026-11-29T12:00:01.000Z',
      degradedReason: 'breaker',
      skippedRecords: 2,
      endpoints: [{ ...ENDPOINT, state: 'ejected', why: 'ejected: slow', until: '2026-11-29T12:03:00.000Z' }],
    };
    const bare = { ...SERVICE, service: 'fixed', source: 'static', state: 'empty', breaker: 'off', endpoints: [] };
    const lines = linesOf([{ ...SERVICE, endpoints: [ENDPOINT, ejected] }, troubled, bare]);
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "weir 0.1.0, pid 4711, up 2h 3m, 2 workers, worker 1 leads discovery, snapshot 7 from consul

        ENDPOINT         WEIGHT  STATE    IN-FLIGHT  REQUESTS  FAILURES  LATENCY  WHY
      order-service  healthy  consul, 1.2 s ago  weighted_round_robin  breaker closed
        10.0.0.5:8080       4/4  active           3      1203         0   4.1 ms
        10.0.0.17:18080     4/0  ejected          3      1203        12        -  ejected: 5 failures in a row, the last: connection refused, for 8s more

      web  stale  dns, no answer yet  weighted_round_robin  breaker open
        in maintenance since 2026-11-29T12:00:00.000Z: new disks
        degraded since 2026-11-29T12:00:01.000Z: breaker
        the breaker lets nothing through, for 5s more
        discovery fails: SERVFAIL
        2 records of its source cannot be used
        10.0.0.5:8080       4/4  ejected          3      1203         0   4.1 ms  ejected: slow, its time is up

      fixed  empty  static  weighted_round_robin
        no endpoints"
    `);
  });

  it('says so when there is no service', () => {
    expect(linesOf([]).at(-1)).toBe('no route has a service');
  });

  it('paints states, and moves no cursor whatever the gateway says', () => {
    const evil = { ...SERVICE, service: 'x\u001b[2J', endpoints: [{ ...ENDPOINT, why: 'one\ntwo\u009b' }] };
    expect(linesOf([evil], true).join('\n')).toContain('\u001b[32mactive\u001b[0m');
    const text = linesOf([evil]).join('\n');
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(text).toContain('one\\u{a}two\\u{9b}');
  });
});

describe('the document of the pools', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['another document', '{"status":"ok"}'],
    ['null', 'null'],
    ['a list', '[]'],
    ['services that are none', pageOf([{ service: 4 }])],
  ])('is not %s', (_what, text) => {
    expect([readUpstreams(text), readDocument(text)]).toEqual([undefined, undefined]);
  });

  it('may have keys of another version, but a table needs those that it shows', () => {
    expect(readUpstreams(pageOf([{ ...SERVICE, more: 1 }]))).toMatchObject({ services: [{ more: 1 }] });
    const { policy: _policy, ...older } = SERVICE;
    expect(readUpstreams(pageOf([older]))).toBeUndefined();
    expect(readDocument(pageOf([older]))).toMatchObject({ services: [{ service: 'order-service' }] });
    const untimed = { ...SERVICE, endpoints: [{ ...ENDPOINT, requests: null }] };
    expect(readUpstreams(pageOf([untimed]))).toBeUndefined();
  });
});

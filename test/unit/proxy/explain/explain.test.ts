import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../gateway/core/instance.ts';
import { operate } from '../../../../gateway/pool/operator.ts';
import { type EjectionReason, EndpointCell } from '../../../../gateway/shared/endpoint-cell.ts';
import { windowTick } from '../../../../gateway/shared/lane-window.ts';
import { RouteCell } from '../../../../gateway/shared/route-cell.ts';
import { ServiceCell } from '../../../../gateway/shared/service-cell.ts';
import { endpoint } from '../../../support/endpoints.ts';
import { ExplainScene } from './explain-scene.ts';

const REFUSED: EjectionReason = { why: 'connection_refused', trigger: 'consecutive_failures', figure: 5 };
const RESPOND = { fallback: { chain: [{ respond: {} }] } };

/** A scene with one route, `r`, of a service `s`. */
function sceneOf(route: object, endpoints: readonly Endpoint[] = [endpoint(1), endpoint(2)]): ExplainScene {
  return new ExplainScene({ routes: { r: { service: 's', ...route } }, pools: { s: endpoints } });
}

function cellOf(scene: ExplainScene, port: number): EndpointCell {
  const facts = scene.snapshot('s').endpoints.find((each) => each.port === port);
  if (facts === undefined) throw new Error(`no endpoint on port ${port}`);
  return new EndpointCell(facts.cell, 0);
}

function serviceCell(scene: ExplainScene): ServiceCell {
  return new ServiceCell(scene.snapshot('s').cell, 0);
}

describe('what becomes of a request', () => {
  it('is 404 where no route matches', () => {
    const { outcome, summary, route, pick } = sceneOf({ match: [{ paths: ['/x'] }] }).explain();
    expect(outcome).toEqual({ kind: 'answer', status: 404, why: 'no route matches' });
    expect([route, pick]).toEqual([null, null]);
    expect(summary).toBe('GET shop.test/ is answered 404 by Weir itself: no route matches');
  });

  it.each([
    ['a path that is not encoded well', { url: 'http://shop.test/%zz' }, 400, 'a % without two hexadecimal digits'],
    ['a malformed host', { url: 'http://shop..test/' }, 400, 'malformed host or target'],
    ['two hosts', { headers: ['Host: a', 'Host: b'] }, 400, 'repeated host'],
    ['CONNECT', { method: 'CONNECT' }, 405, 'CONNECT is not served'],
    ['OPTIONS *', { method: 'OPTIONS', url: '*', headers: ['Host: a'] }, 204, 'OPTIONS * is about the gateway'],
    ['GET *', { url: '*', headers: ['Host: a'] }, 400, 'only OPTIONS has the target *'],
    [
      'a body beyond the limit',
      { headers: ['Content-Length: 3000'] },
      413,
      'the body has 3000 bytes, the route takes 2048',
    ],
  ])('is an answer of the door for %s', (_what, asked, status, why) => {
    expect(sceneOf({ body: '2KiB' }).explain(asked).outcome).toEqual({ kind: 'answer', status, why });
  });

  it('is a sentence when the question makes no sense', () => {
    expect(sceneOf({}).ask({ url: 'shop.test' })).toBe('the URL must begin with http:// or /, not "shop.test"');
  });

  it('is 400 where the path as sent lacks what is to be stripped, although it matches', () => {
    const scene = sceneOf({ match: [{ paths: ['/api/*'] }], rewrite: { stripPrefix: '/api' } });
    const { outcome, forward, request } = scene.explain({ url: 'http://shop.test/%61pi/x' });
    expect(outcome).toMatchObject({ status: 400, why: 'the path as sent does not begin with /api' });
    expect([forward, request.path]).toEqual([null, '/api/x']);
  });

  it.each([
    [[], 'the service has no endpoint'],
    [
      [endpoint(1, { weight: 0 }), endpoint(2, { healthy: false, status: 'critical' as const })],
      'no endpoint may take traffic',
    ],
  ])('is 503 or the fallback with the pool %j', (endpoints, why) => {
    expect(sceneOf({}, endpoints).explain().outcome).toEqual({ kind: 'answer', status: 503, why });
    expect(sceneOf(RESPOND, endpoints).explain().outcome).toEqual({ kind: 'fallback', reason: 'empty' });
  });

  it('is 503 where nobody carries what the route wants', () => {
    const { outcome, endpoints } = sceneOf({ subset: { tags: ['v2'], meta: { zone: 'a' } } }, [
      endpoint(1, { tags: ['v2'], meta: { zone: 'b' } }),
      endpoint(2, { tags: ['v1'] }),
    ]).explain();
    expect(outcome).toMatchObject({ why: 'no endpoint that may take traffic carries what the route wants of it' });
    expect(endpoints.map(({ why }) => why)).toEqual(['lacks meta zone=a', 'lacks the tag v2 and meta zone=a']);
  });

  it('is the fallback where all are ejected and it stands by for that; without one they are asked all the same', () => {
    for (const route of [RESPOND, {}]) {
      const scene = sceneOf(route);
      for (const port of [1, 2]) cellOf(scene, port).eject(scene.clock.nowMs() + 9000, REFUSED);
      const { outcome, pick } = scene.explain();
      if (route === RESPOND) {
        expect(outcome).toEqual({ kind: 'fallback', reason: 'unreachable' });
        expect(pick?.how).toBe('all that might be chosen are ejected, and the fallback answers for that');
      } else {
        expect(outcome).toMatchObject({ kind: 'endpoint', isCertain: true });
        expect(pick?.how).toContain('no fallback answers for that: they take turns');
      }
    }
  });

  it('is the endpoint whose ejection is over, as its probe', () => {
    const scene = sceneOf({});
    cellOf(scene, 2).eject(scene.clock.nowMs(), REFUSED);
    scene.clock.advance(200);
    expect(scene.explain().pick).toMatchObject({
      endpoint: '127.0.0.1:2',
      isCertain: true,
      how: 'its ejection is over: the next request that comes tries it, whatever the policy says',
    });
  });

  it('is the fallback or 503 while the breaker is open, with the figures of its window', () => {
    for (const [route, outcome] of [
      [
        { ...RESPOND, breaker: {} },
        { kind: 'fallback', reason: 'breaker' },
      ],
      [{ breaker: {} }, { kind: 'answer', status: 503, why: 'the breaker lets nothing through at present' }],
    ]) {
      const scene = sceneOf(route ?? {});
      const policy = scene.routes[0]?.breaker;
      if (policy === null || policy === undefined) throw new Error('there is no breaker');
      const nowMs = scene.clock.nowMs();
      for (const isBad of [true, true, false]) serviceCell(scene).countForBreaker(windowTick(nowMs, 10_000), isBad);
      expect(scene.explain().service?.breaker).toMatchObject({
        state: 'closed',
        attempts: 3,
        failures: 2,
        until: null,
      });
      serviceCell(scene).openBreaker(policy, nowMs);
      const explanation = scene.explain();
      expect(explanation.outcome).toEqual(outcome);
      expect(explanation.service?.breaker).toMatchObject({ state: 'open', until: '2023-11-14T22:13:26.000Z' });
      scene.clock.advance(6000);
      expect(scene.explain()).toMatchObject({
        outcome: { kind: 'endpoint' },
        service: { breaker: { state: 'half_open' } },
      });
    }
  });

  it('is the fallback or 503 during maintenance, with the reason', () => {
    for (const [route, outcome] of [
      [RESPOND, { kind: 'fallback', reason: 'maintenance' }],
      [{}, { kind: 'answer', status: 503, why: 'an operator has taken the service out of service' }],
    ]) {
      const scene = sceneOf(route ?? {});
      serviceCell(scene).setMaintenance(true);
      scene.maintenance.set('s', { sinceMs: scene.clock.wallMs(), reason: 'new disks' });
      expect(scene.explain()).toMatchObject({
        outcome,
        service: { maintenance: { since: '2023-11-14T22:13:21.000Z', reason: 'new disks' } },
      });
    }
  });

  it('is unknown where only a running gateway knows the endpoints', () => {
    const scene = sceneOf({ match: [{ paths: ['/*'] }], rewrite: { stripPrefix: '/x' } }, []);
    scene.statuses.clear();
    expect(scene.explain().outcome).toMatchObject({ kind: 'answer', status: 400 });
    const { outcome, summary, pick, service } = scene.explain({ url: 'http://shop.test/x' });
    expect(outcome).toMatchObject({ kind: 'unknown' });
    expect([pick, service?.state]).toEqual([null, 'unknown']);
    expect(summary).toBe(
      'GET shop.test/x goes to s by route r; the endpoints come from consul, and only a running gateway knows them',
    );
  });
});

describe('a request for a WebSocket', () => {
  const headers = ['Connection: keep-alive, Upgrade', 'Upgrade: websocket'];

  it('is tried once, and no fallback answers for it', () => {
    const scene = sceneOf(RESPOND);
    const { request, failure, outcome } = scene.explain({ headers });
    expect([request.upgrade, failure?.attempts, failure?.fallback, outcome.kind]).toEqual([
      'tunnelled',
      1,
      null,
      'endpoint',
    ]);
    for (const port of [1, 2]) cellOf(scene, port).eject(scene.clock.nowMs() + 9000, REFUSED);
    expect(scene.explain({ headers }).outcome.kind).toBe('endpoint');
    expect(scene.explain().outcome.kind).toBe('fallback');
  });

  it('is a plain request where the route tunnels none, and where it does not ask well', () => {
    for (const route of [{ websocket: false }, { protocol: 'h2c' }]) {
      const { request, failure } = sceneOf(route).explain({ headers });
      expect([request.upgrade, failure?.attempts]).toEqual(['ignored', 3]);
    }
    for (const asked of [{ headers: ['Upgrade: websocket'] }, { headers, method: 'POST' }, {}]) {
      expect(sceneOf({}).explain(asked).request.upgrade).toBeNull();
    }
  });
});

describe('what a request counts under', () => {
  const limits = [
    { rate: '100/s', burst: 200 },
    { algorithm: 'leaky_bucket', key: 'header', name: 'X-User', rate: '10/30s', burst: 0 },
    { algorithm: 'sliding_window', key: 'cookie', name: 'sid', rate: '5/m' },
    { key: 'route', rate: '1000/250ms' },
  ];

  it('is told for every limit', () => {
    const headers = ['X-User: 42', 'Cookie: a=b; sid=xyz'];
    expect(sceneOf({ rateLimit: limits }).explain({ headers, client: '2001:db8::1' }).rateLimits).toEqual([
      { algorithm: 'token_bucket', rate: '100/s', burst: 200, by: 'client_ip', key: '2001:db8:0:0::/64' },
      { algorithm: 'leaky_bucket', rate: '10/30s', burst: 0, by: 'header x-user', key: '42' },
      { algorithm: 'sliding_window', rate: '5/m', burst: null, by: 'cookie sid', key: 'xyz' },
      { algorithm: 'token_bucket', rate: '1000/250ms', burst: 1000, by: 'route', key: 'route' },
    ]);
  });

  it('is nothing where the request lacks it', () => {
    const keys = sceneOf({ rateLimit: limits })
      .explain({ headers: ['X-User:'] })
      .rateLimits.map(({ key }) => key);
    expect(keys).toEqual(['203.0.113.7', null, null, 'route']);
  });

  it('is the address in X-Forwarded-For where the peer is a trusted proxy, and only there', () => {
    const routes = { r: { service: 's', rateLimit: [{ rate: '1/s' }] } };
    const scene = new ExplainScene({ routes, gateway: { trustedProxies: ['10.0.0.0/8'] } });
    const headers = ['X-Forwarded-For: 198.51.100.1, 203.0.113.9'];
    expect(scene.explain({ headers, client: '10.1.2.3' })).toMatchObject({
      request: { client: '203.0.113.9', clientFrom: 'x-forwarded-for' },
      rateLimits: [{ key: '203.0.113.9' }],
    });
    expect(scene.explain({ headers }).request).toMatchObject({ client: '203.0.113.7', clientFrom: 'given' });
    expect(scene.explain({ client: null }).request).toMatchObject({ client: '127.0.0.1', clientFrom: 'assumed' });
  });

  it('tells how many were refused, and how many places are taken', () => {
    const scene = sceneOf({ concurrency: { max: 2, queue: 3 } });
    const cell = new RouteCell(scene.cell('r'), 1);
    cell.countRateLimited();
    cell.takePlace(2);
    expect(scene.explain()).toMatchObject({
      rateLimited: 1,
      concurrency: { max: 2, queue: 3, queueTimeoutMs: 1000, running: 1, waiting: 0 },
    });
  });
});

describe('what is sent to the service', () => {
  it.each([
    [{}, 'http://shop.test/a/%62?x=1', { target: '/a/%62?x=1', host: 'shop.test', hostFrom: 'client' }],
    [{ stripPrefix: '/a', addPrefix: '/v2' }, 'http://shop.test/a/b?x', { target: '/v2/b?x' }],
    [{ host: 'inner.test' }, 'http://shop.test/a', { host: 'inner.test', hostFrom: 'literal' }],
    [{ host: 'upstream' }, 'http://shop.test/a', { host: '127.0.0.1:1', hostFrom: 'upstream' }],
  ])('with the rewrite %j of %s is %j', (rewrite, url, forward) => {
    expect(sceneOf({ rewrite }).explain({ url }).forward).toMatchObject(forward);
  });

  it('has no certain Host where chance decides on the endpoint', () => {
    const { forward } = sceneOf({ rewrite: { host: 'upstream' }, balance: { policy: 'random' } }).explain();
    expect(forward).toMatchObject({ host: null, hostFrom: 'upstream' });
  });

  it('names the fields that are set, and never their values', () => {
    const requestHeaders = { set: { authorization: 'Bearer secret-4711' }, remove: ['cookie'] };
    const explanation = sceneOf({ rewrite: { requestHeaders } }).explain();
    expect(explanation.forward).toMatchObject({ sets: ['authorization'], removes: ['cookie'] });
    expect(JSON.stringify(explanation)).not.toContain('secret-4711');
  });
});

describe('the choice of an endpoint', () => {
  it('tells the key of consistent hashing and whose it is', () => {
    const scene = sceneOf({ balance: { policy: 'consistent_hash', hash: { on: 'query', name: 'user' } } });
    const { key, pick } = scene.explain({ url: 'http://shop.test/?user=7' });
    expect(key).toEqual({ from: 'query user', value: '7' });
    expect(pick).toMatchObject({ isCertain: true, how: 'the key "7" belongs to it', isNobodyLeft: true });
    expect(scene.explain().pick?.how).toMatch(/^the request has no query user, so weighted round robin decides/);
  });

  it('tells when the owner of a key is too busy', () => {
    const scene = sceneOf({ balance: { policy: 'consistent_hash', hash: { on: 'path' } } });
    const owner = scene.explain().pick?.endpoint ?? '';
    for (let count = 0; count < 10; count++) {
      cellOf(scene, Number(owner.split(':')[1])).requestStarted();
      serviceCell(scene).requestStarted();
    }
    const { pick } = scene.explain();
    expect(pick?.endpoint).not.toBe(owner);
    expect(pick?.how).toBe(
      `the key "/" belongs to ${owner}, which has more than its share of the load: it is the next best`,
    );
  });

  it('tells the load that least_request compares', () => {
    const scene = sceneOf({ balance: { policy: 'least_request' } }, [endpoint(1, { weight: 4 }), endpoint(2)]);
    for (const port of [1, 1, 2]) cellOf(scene, port).requestStarted();
    const { endpoints, pick } = scene.explain();
    expect(endpoints.map(({ cost, inFlight }) => [cost, inFlight])).toEqual([
      [0.5, 2],
      [1, 1],
    ]);
    expect(pick).toMatchObject({
      endpoint: '127.0.0.1:1',
      how: 'it has the fewest requests in flight for its weight (2 requests in flight at weight 4)',
    });
  });

  it('names who is best placed where two draws decide, as the draw of those two would', () => {
    const scene = sceneOf({ balance: { policy: 'peak_ewma' } }, [endpoint(1), endpoint(2, { weight: 2 }), endpoint(3)]);
    for (const [port, ms] of [[1, 10] as const, [2, 8] as const])
      cellOf(scene, port).latencySeen(ms, scene.clock.nowMs(), true);
    for (const port of [2, 3, 3]) cellOf(scene, port).requestStarted();
    const { endpoints, pick, outcome } = scene.explain();
    expect(endpoints.map(({ cost }) => cost)).toEqual([10, 13.333, null]);
    expect(pick).toMatchObject({ endpoint: '127.0.0.1:1', isCertain: false, next: [] });
    expect(outcome).toMatchObject({ endpoint: '127.0.0.1:1', isCertain: false });
  });

  it('tells the share of each where chance decides, and is certain of a lone endpoint', () => {
    const scene = sceneOf({ balance: { policy: 'random' } }, [endpoint(1, { weight: 3 }), endpoint(2)]);
    const { endpoints, pick, summary } = scene.explain();
    expect(endpoints.map(({ sharePercent, isPicked }) => [sharePercent, isPicked])).toEqual([
      [75, false],
      [25, false],
    ]);
    expect(pick).toMatchObject({ endpoint: '127.0.0.1:1', isCertain: false });
    expect(summary).toBe('GET shop.test/ goes to one of 2 endpoints of s by route r; 127.0.0.1:1 is best placed');
    operate(scene.snapshot('s'), '127.0.0.1:1', 'drain', scene.clock.nowMs());
    expect(scene.explain().pick).toMatchObject({ endpoint: '127.0.0.1:2', isCertain: true, isNobodyLeft: true });
  });

  const SPLIT = [
    { weight: 95, tags: ['stable'] },
    { weight: 5, tags: ['canary'], when: { cookie: 'canary', equals: 'yes' } },
  ];

  it('tells the branch of a split and whether a rule or the weights have decided', () => {
    const scene = sceneOf({ split: SPLIT }, [endpoint(1, { tags: ['stable'] }), endpoint(2, { tags: ['canary'] })]);
    expect(scene.explain()).toMatchObject({
      split: { branch: 'stable', by: 'weight', why: '95 of 100', instead: null },
      pick: { endpoint: '127.0.0.1:1' },
    });
    expect(scene.explain({ headers: ['Cookie: canary=yes'] })).toMatchObject({
      split: { branch: 'canary', by: 'rule', why: 'cookie canary is "yes"' },
      pick: { endpoint: '127.0.0.1:2' },
    });
  });

  it('tells when another branch serves instead', () => {
    const scene = sceneOf({ split: SPLIT }, [endpoint(1, { tags: ['stable'] })]);
    expect(scene.explain({ headers: ['Cookie: canary=yes'] })).toMatchObject({
      split: { branch: 'canary', instead: 'stable' },
      endpoints: [{ endpoint: '127.0.0.1:1', isCandidate: true, isPicked: true }],
    });
  });

  it('tells of every other endpoint why it is none', () => {
    const scene = sceneOf({ slowStart: { window: '10s' } }, [
      endpoint(1),
      endpoint(2, { weight: 0 }),
      endpoint(3, { healthy: false, status: 'critical' }),
      endpoint(4),
      endpoint(5),
      endpoint(6),
    ]);
    operate(scene.snapshot('s'), '127.0.0.1:4', 'drain', scene.clock.nowMs());
    cellOf(scene, 5).eject(scene.clock.nowMs() + 9000, REFUSED);
    cellOf(scene, 6).startWarming(scene.clock.nowMs());
    scene.clock.advance(5000);
    const told = scene.explain().endpoints.map(({ isCandidate, why }) => [isCandidate, why]);
    expect(told).toEqual([
      [true, null],
      [false, 'its weight is 0'],
      [false, 'its source says critical'],
      [false, 'an operator lets it drain'],
      [false, 'ejected: 5 failures in a row, the last: connection refused'],
      [true, 'its traffic grows slowly'],
    ]);
    expect(scene.explain().endpoints[5]).toMatchObject({ effectiveWeight: 0.5, sharePercent: 33.3 });
  });
});

describe('what happens when attempts fail', () => {
  it('is told in turn, as far as it is certain', () => {
    const scene = sceneOf({}, [endpoint(1), endpoint(2), endpoint(3), endpoint(4)]);
    const { pick, failure } = scene.explain();
    expect([pick?.endpoint, ...(pick?.next ?? [])]).toEqual(['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3']);
    expect([pick?.isNobodyLeft, failure?.attempts]).toEqual([false, 3]);
  });

  it.each([
    ['GET', [], [true, true, true, true]],
    ['POST', [], [true, false, false, false]],
    ['POST', ['Idempotency-Key: 1'], [true, true, true, true]],
  ])('depends on what may be repeated: %s with %j', (method, headers, isRetried) => {
    const { failure } = sceneOf({}).explain({ method, headers });
    expect(failure?.retries.map((each) => each.isRetried)).toEqual(isRetried);
    expect(failure?.retries.map(({ after }) => after)).toEqual(['connect', 'reset', 'timeout', '502, 503, 504']);
  });

  it('depends on the policy of the route', () => {
    const { failure } = sceneOf({ retry: { attempts: 2, on: ['timeout'], statuses: [], budget: 'off' } }).explain();
    expect(failure).toMatchObject({ attempts: 2, budget: { percent: null, isExhausted: false } });
    expect(failure?.retries.map(({ isRetried }) => isRetried)).toEqual([false, false, true, false]);
  });

  it('tells when the budget of retries is used up', () => {
    const scene = sceneOf({ retry: { minPerSecond: 0, budget: '50%' } });
    const nowMs = scene.clock.nowMs();
    for (const isRetry of [false, false, true]) serviceCell(scene).countForBudget(nowMs, isRetry);
    expect(scene.explain().failure?.budget).toMatchObject({ requests: 2, retries: 1, isExhausted: true });
  });

  it('ends in the steps of the fallback', () => {
    const chain = [
      { stale: { maxAge: '90s' } },
      { upstream: ['http://127.0.0.1:8000', 'http://127.0.0.1:8001'] },
      { respond: { body: 'sorry' } },
    ];
    const scene = sceneOf({ fallback: { on: ['empty'], chain } });
    expect(scene.explain().failure?.fallback).toEqual({
      on: ['empty'],
      chain: [
        'stale: the last good answer to the same request, if one was kept and is at most 90s old',
        'upstream: in turn one of http://127.0.0.1:8000, http://127.0.0.1:8001',
        'respond: 503 with 5B of text/plain; charset=utf-8',
      ],
    });
    expect(scene.explain({ method: 'POST' }).failure?.fallback?.chain[0]).toBe(
      'stale: passed over, for it is kept for a GET without Authorization only',
    );
  });
});

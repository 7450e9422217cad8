import { describe, expect, it } from 'vitest';
import { explanationText } from '../../../../gateway/proxy/explain/explanation-text.ts';
import { EndpointCell } from '../../../../gateway/shared/endpoint-cell.ts';
import { endpoint } from '../../../support/endpoints.ts';
import { type Asked, ExplainScene } from './explain-scene.ts';

const orders = {
  service: 'order-service',
  match: [
    {
      hosts: ['shop.test', '*.shop.test'],
      paths: ['/orders', '/orders/*'],
      methods: ['GET', 'POST'],
      headers: { 'x-beta': '*' },
    },
  ],
  rewrite: { stripPrefix: '/orders', requestHeaders: { set: { 'x-from': 'weir' }, remove: ['cookie'] } },
  rateLimit: [
    { rate: '100/s', burst: 200 },
    { algorithm: 'sliding_window', key: 'header', name: 'X-User', rate: '5/m' },
  ],
  concurrency: { max: 100, queue: 5 },
  breaker: {},
  split: [
    { weight: 95, tags: ['stable'] },
    { weight: 5, tags: ['canary'], when: { header: 'x-canary', equals: '1' } },
  ],
  fallback: { chain: [{ stale: {} }, { upstream: ['http://127.0.0.1:8000'] }, { respond: { body: 'sorry' } }] },
};

function scene(): ExplainScene {
  const made = new ExplainScene({
    routes: {
      orders,
      web: { service: 'web', match: [{ paths: ['/*'] }], balance: { policy: 'peak_ewma' } },
      put: { service: 'web', match: [{ paths: ['/orders/*'], methods: ['PUT'] }] },
    },
    pools: {
      'order-service': [
        endpoint(1, { weight: 4, tags: ['stable'] }),
        endpoint(2, { weight: 2, tags: ['stable'] }),
        endpoint(3, { tags: ['canary'] }),
        endpoint(4, { tags: ['stable'] }),
      ],
      web: [endpoint(10), endpoint(11)],
    },
  });
  const facts = made.snapshot('order-service').endpoints[3];
  if (facts === undefined) throw new Error('there is no such endpoint');
  const reason = { why: 'connection_refused', trigger: 'consecutive_failures', figure: 5 } as const;
  new EndpointCell(facts.cell, 0).eject(made.clock.nowMs() + 8000, reason);
  return made;
}

function textOf(asked: Asked): string {
  return explanationText(scene().explain(asked));
}

describe('an explanation as text', () => {
  it('begins with what becomes of the request and tells everything that decides', () => {
    const headers = ['X-Beta: 1', 'X-User: 42'];
    expect(textOf({ url: 'http://shop.test/orders/1%37?x=1', headers })).toMatchInlineSnapshot(`
      "GET shop.test/orders/1%37?x=1 goes to 127.0.0.1:1 of order-service by route orders

      request      from 203.0.113.7
                   routes see the path as /orders/17
      listener     127.0.0.1:1  plain HTTP/1.1
      route        orders (routes/orders.yaml, match[0])
                   host: exactly shop.test
                   path: begins with /orders/ (prefix)
                   method: one of GET, POST
                   header x-beta: it is present
      others       web matches too, but the host shop.test is more exact than any host
                   put wants another method: PUT
      forwarded    GET /1%37?x=1, without /orders
                   Host: shop.test (as received), over http
                   sets x-from
                   removes cookie
      limits       100/s by client_ip, here "203.0.113.7" (token_bucket, burst 200)
                   5/m by header x-user, here "42" (sliding_window)
                   0 requests of this route refused so far
                   0 of 100 places for requests at once are taken; 0 of 5 wait, 1s at most
      service      order-service from consul: healthy, last answer 1.2 s ago
                   breaker closed: 0 of 0 attempts failed in the last 10s (opens at 50 % of at least 20)
      split        stable, by weight: 95 of 100, and its turn
                   (stable: weight 95; canary: weight 5, or when header x-canary is "1")
      endpoints    > 127.0.0.1:1  weight 4 (66.7 %)  active   0 in flight
                     127.0.0.1:2  weight 2 (33.3 %)  active   0 in flight
                   - 127.0.0.1:3  weight 1           active   0 in flight      lacks the tag stable
                   - 127.0.0.1:4  weight 1           ejected  0 in flight      ejected: 5 failures in a row, the last: connection refused, until 2023-11-14T22:13:29.000Z
      pick         127.0.0.1:1: weighted round robin, the same for all workers: the next turn is its own (weight 4 of 6)
                   when that fails: 127.0.0.1:2, then 127.0.0.1:3
      if it fails  up to 3 attempts, each at another endpoint, after connect, reset, timeout, 502, 503, 504
                   only with a body of at most 64KiB; retries: at most 20 % of the requests, or 3/s (0 for 0 requests in the last 10 s)
                   fallback on empty, unreachable, breaker:
                     1. stale: the last good answer to the same request, if one was kept and is at most 10m old
                     2. upstream: http://127.0.0.1:8000
                     3. respond: 503 with 5B of text/plain; charset=utf-8
      "
    `);
  });

  it('tells a rule of a split, and what is not tried again', () => {
    const headers = ['X-Beta: 1', 'X-Canary: 1'];
    expect(textOf({ method: 'POST', url: 'http://shop.test/orders', headers, client: null })).toMatchInlineSnapshot(`
      "POST shop.test/orders goes to 127.0.0.1:3 of order-service by route orders

      request      from 127.0.0.1 (assumed: nobody said who asks)
      listener     127.0.0.1:1  plain HTTP/1.1
      route        orders (routes/orders.yaml, match[0])
                   host: exactly shop.test
                   path: exactly /orders
                   method: one of GET, POST
                   header x-beta: it is present
      others       web matches too, but the host shop.test is more exact than any host
      forwarded    POST /, without /orders
                   Host: shop.test (as received), over http
                   sets x-from
                   removes cookie
      limits       100/s by client_ip, here "127.0.0.1" (token_bucket, burst 200)
                   5/m by header x-user, which is absent: such requests count together (sliding_window)
                   0 requests of this route refused so far
                   0 of 100 places for requests at once are taken; 0 of 5 wait, 1s at most
      service      order-service from consul: healthy, last answer 1.2 s ago
                   breaker closed: 0 of 0 attempts failed in the last 10s (opens at 50 % of at least 20)
      split        canary, by its rule: header x-canary is "1"
                   (stable: weight 95; canary: weight 5, or when header x-canary is "1")
      endpoints    > 127.0.0.1:3  weight 1 (100 %)  active   0 in flight
                   - 127.0.0.1:1  weight 4          active   0 in flight      lacks the tag canary
                   - 127.0.0.1:2  weight 2          active   0 in flight      lacks the tag canary
                   - 127.0.0.1:4  weight 1          ejected  0 in flight      lacks the tag canary; ejected: 5 failures in a row, the last: connection refused, until 2023-11-14T22:13:29.000Z
      pick         127.0.0.1:3: it is the only one that can be chosen
                   when that fails: 127.0.0.1:1, then 127.0.0.1:2
      if it fails  up to 3 attempts, each at another endpoint, after connect
                   only with a body of at most 64KiB; retries: at most 20 % of the requests, or 3/s (0 for 0 requests in the last 10 s)
                   not after reset, timeout, 502, 503, 504: a POST without Idempotency-Key may have been carried out
                   fallback on empty, unreachable, breaker:
                     1. stale: passed over, for it is kept for a GET without Authorization only
                     2. upstream: http://127.0.0.1:8000
                     3. respond: 503 with 5B of text/plain; charset=utf-8
      "
    `);
  });

  it('is short where chance decides', () => {
    expect(textOf({ url: 'http://other.test/orders' })).toMatchInlineSnapshot(`
      "GET other.test/orders goes to one of 2 endpoints of web by route web; 127.0.0.1:10 is best placed

      request      from 203.0.113.7
      listener     127.0.0.1:1  plain HTTP/1.1
      route        web (routes/web.yaml, match[0])
                   host: any will do
                   path: begins with / (prefix)
      forwarded    GET /orders, as received
                   Host: other.test (as received), over http
      service      web from consul: healthy, last answer 1.2 s ago
      endpoints      127.0.0.1:10  weight 1 (50 %)  active  0 in flight
                     127.0.0.1:11  weight 1 (50 %)  active  0 in flight
      pick         127.0.0.1:10, or another: of two drawn by weight the one with less latency x (requests in flight for its weight + 1): the one named is best placed of 2
      if it fails  up to 3 attempts, each at another endpoint, after connect, reset, timeout, 502, 503, 504
                   only with a body of at most 64KiB; retries: at most 20 % of the requests, or 3/s (0 for 0 requests in the last 10 s)
                   no fallback: Weir answers with the error
      "
    `);
  });

  it('is shorter where there is no route', () => {
    const lone = new ExplainScene({ routes: { put: { match: [{ paths: ['/orders/*'], methods: ['PUT'] }] } } });
    expect(explanationText(lone.explain({ url: 'http://shop.test/orders/1' }))).toMatchInlineSnapshot(`
      "GET shop.test/orders/1 is answered 404 by Weir itself: no route matches

      request      from 203.0.113.7
      listener     127.0.0.1:1  plain HTTP/1.1
      route        none
      others       put wants another method: PUT
      "
    `);
    expect(explanationText(lone.explain({ url: 'http://shop.test/x' }))).toMatchInlineSnapshot(`
      "GET shop.test/x is answered 404 by Weir itself: no route matches

      request      from 203.0.113.7
      listener     127.0.0.1:1  plain HTTP/1.1
      route        none
      others       none comes close
      "
    `);
  });

  it('tells what troubles a service', () => {
    const troubled = new ExplainScene({ routes: { r: { service: 's', retry: { attempts: 1 } } } });
    const status = troubled.statuses.get('s');
    if (status === undefined) throw new Error('there is no such service');
    troubled.statuses.set('s', { ...status, lastError: 'connection refused' });
    troubled.maintenance.set('s', { sinceMs: troubled.clock.wallMs(), reason: '' });
    expect(explanationText(troubled.explain({}))).toMatchInlineSnapshot(`
      "GET shop.test/ is answered 503 by Weir itself: the service has no endpoint

      request      from 203.0.113.7
      listener     127.0.0.1:1  plain HTTP/1.1
      route        r (routes/r.yaml, match[0])
                   host: any will do
                   path: begins with / (prefix)
      forwarded    GET /, as received
                   Host: shop.test (as received), over http
      service      s from consul: empty, last answer 1.2 s ago
                   discovery fails: connection refused
                   in maintenance since 2023-11-14T22:13:21.000Z: no reason given
      pick         nobody: the service has no endpoint
      if it fails  it is not tried again
                   no fallback: Weir answers with the error
      "
    `);
  });

  it('lists some of many endpoints', () => {
    const many = Array.from({ length: 100 }, (_, at) => endpoint(1000 + at, { healthy: at < 40 }));
    const large = new ExplainScene({ routes: { r: { service: 's' } }, pools: { s: many } });
    const text = explanationText(large.explain({}));
    expect(text.match(/127\.0\.0\.1:\d+ {2}weight/g)).toHaveLength(1 + 20 + 50);
    expect(text).toContain('  and 19 more candidates\n');
    expect(text).toContain('  and 10 more that cannot be chosen\n');
  });

  it('moves no cursor, whatever a request or a source says', () => {
    const evil = new ExplainScene({
      routes: { r: { service: 's', balance: { policy: 'consistent_hash', hash: { on: 'header', name: 'x-user' } } } },
      pools: { s: [endpoint(1)] },
    });
    const status = evil.statuses.get('s');
    if (status === undefined) throw new Error('there is no such service');
    evil.statuses.set('s', { ...status, lastError: 'bad\u001b[2J\nworse' });
    const text = explanationText(evil.explain({ url: 'http://shop.test/\u202e', headers: ['x-user: \u009b31m'] }));
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('discovery fails: bad\\u{1b}[2J\\u{a}worse\n');
    expect(text).toContain('header x-user = "\\u{9b}31m"\n');
  });
});

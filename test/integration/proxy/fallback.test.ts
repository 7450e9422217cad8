// The steps of a fallback: fixed answers in the form that the client prefers, other servers, and when each is asked.
import { describe, expect, it } from 'vitest';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, fieldOf, namedUpstream, namesOf, requestsOf, sayingName, tally } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const DEGRADED = 'service is degraded';
const AGAIN = 'service answers from its pool again';
const POST = 'POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi';

function respond(contentType: string, body: string, status = 503): object {
  return { respond: { status, contentType, body } };
}

describe('several fixed answers', () => {
  const chain = [
    respond('application/json', '{}'),
    respond('text/html; charset=utf-8', '<p>'),
    respond('text/csv', 'a,b'),
  ];

  it.each([
    ['', '{}'],
    ['Accept: */*\r\n', '{}'],
    ['Accept: application/json\r\n', '{}'],
    ['Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n', '<p>'],
    ['Accept: text/*\r\n', '<p>'],
    ['Accept: text/csv, text/html;q=0.5\r\n', 'a,b'],
    ['Accept: application/json;q=0.1, text/html;q=0.2\r\n', '<p>'],
    // Nothing fits: the first is as good as any.
    ['Accept: image/png\r\n', '{}'],
    ['Accept: nonsense\r\n', '{}'],
  ])('are chosen by %j', async (accept, content) => {
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain } } });
    expect(await ask(gateway.port, get('/', accept))).toMatchObject({ status: 503, content });
    const head = await ask(gateway.port, get('/', accept).replace('GET', 'HEAD'));
    expect([head.content, fieldOf(head, 'content-length')]).toEqual(['', String(content.length)]);
  });
});

describe('a fixed answer', () => {
  it('is never cached, carries the marks and the id, and answers any method', async () => {
    const gateway = await gatewayFor({
      endpoints: [],
      route: { fallback: { chain: [respond('text/plain', 'soon')] } },
    });
    for (const request of [get('/'), POST]) {
      const answer = await ask(gateway.port, request);
      expect(answer).toMatchObject({ status: 503, content: 'soon' });
      expect(fieldOf(answer, 'cache-control')).toBe('no-store');
      expect(fieldOf(answer, 'x-request-id')).toBe(gateway.records.at(-1)?.requestId);
      expect(fieldOf(answer, 'x-degraded')).toMatch(/^empty; source=respond; since=/);
      expect(fieldOf(answer, 'proxy-status')).toBe('weir; error=destination_unavailable');
      expect(fieldOf(answer, 'date')).toBeDefined();
    }
    expect(gateway.counts.degradedAnswers('respond', 'empty')).toBe(2);
  });

  it.each([204, 304])('of %s has no length', async (status) => {
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain: [{ respond: { status } }] } } });
    const answer = await ask(gateway.port, get('/'));
    expect([answer.status, answer.content, fieldOf(answer, 'content-length')]).toEqual([status, '', undefined]);
  });
});

describe('the fallback for status-5xx', () => {
  const fallback = { on: ['status-5xx'], chain: [respond('text/plain', 'soon')] };

  it.each([500, 501, 599])('takes the place of an answer of %s', async (status) => {
    const bad = await upstreamThat(sayingName('secret', `${status} Oops`, 'X-Debug: trace\r\n'));
    const gateway = await gatewayFor({ endpoints: [bad.port], route: { fallback } });
    const answer = await ask(gateway.port, get('/'));
    expect(answer).toMatchObject({ status: 503, content: 'soon' });
    expect(fieldOf(answer, 'x-degraded')).toMatch(/^status-5xx; source=respond; since=/);
    expect(answer.head).not.toContain('X-Debug');
    const outcome = status === 500 ? 'status' : 'success';
    expect(gateway.records).toMatchObject([{ degraded: 'status-5xx; source=respond', attempts: [{ outcome }] }]);
  });

  it('is asked after the other endpoints, and lets what is below 500 and failed connections pass', async () => {
    const bad = await upstreamThat(sayingName('bad', '503 Busy'));
    const good = await namedUpstream('good');
    const both = await gatewayFor({ endpoints: [bad.port, good.port], route: { fallback } });
    expect(tally(await namesOf(both.port, 4))).toEqual({ good: 4 });
    const missing = await upstreamThat(sayingName('missing', '404 Not Found'));
    const other = await gatewayFor({ endpoints: [missing.port], route: { fallback } });
    expect(await ask(other.port, get('/'))).toMatchObject({ status: 404, content: 'missing' });
    await missing.stop();
    expect((await ask(other.port, get('/'))).head).toContain('error=connection_refused');
  });

  it('answers for a POST whose content was on its way as well', async () => {
    const bad = await upstreamThat(sayingName('bad', '500 Oops'));
    const gateway = await gatewayFor({ endpoints: [bad.port], route: { fallback } });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 10\r\n\r\nhello');
    const answer = await client.untilClosed();
    expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*Connection: close\r\n[\s\S]*soon$/);
  });
});

describe('the servers of a fallback', () => {
  it.each([[['unreachable']], [['status-5xx']]])('take turns when it is for %j', async (on) => {
    const bad = await upstreamThat(sayingName('bad', '500 Oops'));
    const [dead = 0] = await findFreePorts(1);
    const others = await Promise.all(['a', 'b'].map((name) => namedUpstream(name)));
    const chain = [{ upstream: others.map(({ port }) => `http://127.0.0.1:${port}`) }];
    const endpoints = [on[0] === 'unreachable' ? dead : bad.port];
    const gateway = await gatewayFor({ endpoints, route: { fallback: { on, chain } } });
    expect(tally(await namesOf(gateway.port, 8))).toEqual({ a: 4, b: 4 });
  });

  it('are asked once each request, and their failures eject nothing', async () => {
    const broken = await upstreamThat(({ socket }) => void socket.end());
    const chain = [{ upstream: [`http://127.0.0.1:${broken.port}`] }, respond('text/plain', 'soon')];
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain } } });
    for (let at = 0; at < 8; at++) expect(await ask(gateway.port, get('/'))).toMatchObject({ content: 'soon' });
    expect(requestsOf(broken)).toBe(8);
    expect(gateway.records.every(({ degraded }) => degraded === 'empty; source=respond')).toBe(true);
  });

  it('get the content of the request, and their answers are passed on with the marks', async () => {
    const other = await upstreamThat(sayingName('other', '404 Nothing', 'X-Request-Id: theirs\r\n'));
    const chain = [{ upstream: [`http://127.0.0.1:${other.port}`] }];
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain } } });
    const answer = await ask(gateway.port, POST);
    expect(answer).toMatchObject({ status: 404, content: 'other' });
    expect(fieldOf(answer, 'x-degraded')).toMatch(/^empty; source=upstream; since=/);
    expect(other.received()).toMatch(/\r\n\r\nhi$/);
  });

  it('that hang are given up when the total time is over, and the next step answers', async () => {
    const silent = await upstreamThat(() => undefined);
    const chain = [{ upstream: [`http://127.0.0.1:${silent.port}`] }, respond('text/plain', 'soon')];
    const gateway = await gatewayFor({ endpoints: [], route: { timeout: { total: '200ms' }, fallback: { chain } } });
    expect(await ask(gateway.port, get('/'))).toMatchObject({ status: 503, content: 'soon' });
    expect(silent.connections).toHaveLength(1);
    await waitFor(() => silent.open() === 0, { limitMs: 2000, what: 'the call to be given up' });
  });

  it('are freed when the client leaves', async () => {
    const silent = await upstreamThat(() => undefined);
    const chain = [{ upstream: [`http://127.0.0.1:${silent.port}`] }];
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain } } });
    const client = await RawClient.connect(gateway.port);
    client.send(get('/'));
    await waitFor(() => requestsOf(silent) === 1, { limitMs: 2000, what: 'the request' });
    client.reset();
    await waitFor(() => silent.open() === 0, { limitMs: 2000, what: 'the call to be given up' });
    expect(gateway.records).toMatchObject([{ error: 'client_gone', status: 0 }]);
  });

  it('that break off in the middle are not taken for complete', async () => {
    const broken = await upstreamThat(
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello'),
    );
    const chain = [{ upstream: [`http://127.0.0.1:${broken.port}`] }, respond('text/plain', 'soon')];
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain } } });
    const answer = await ask(gateway.port, get('/'));
    expect([fieldOf(answer, 'content-length'), answer.content]).toEqual(['9', 'hello']);
    expect(gateway.records).toMatchObject([{ error: 'truncated', degraded: 'empty; source=upstream' }]);
  });
});

describe('a degraded service', () => {
  it('is one until it has been calm for a while, and both changes are logged once', async () => {
    let isBroken = true;
    const upstream = await upstreamThat((connection) => {
      if (isBroken) sayingName('oops', '500 Oops')(connection);
      else sayingName('fine')(connection);
    });
    const fallback = { on: ['status-5xx'], chain: [respond('text/plain', 'soon')] };
    const ejection = { consecutiveFailures: 1_000_000, failurePercent: 'off' };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { fallback, ejection } });
    const count = (words: string) => gateway.logLines.filter((line) => line.includes(words)).length;
    // It wavers: every second answer is good.
    for (let at = 0; at < 10; at++) {
      isBroken = at % 2 === 0;
      await ask(gateway.port, get('/'));
    }
    // Once, unless this machine stood still for seconds.
    expect(count(DEGRADED)).toBeLessThan(3);
    expect(gateway.service.degraded()).toMatchObject({ reason: 'status-5xx' });
    isBroken = false;
    const isCalm = async () => {
      await ask(gateway.port, get('/'));
      return gateway.service.degraded() === null;
    };
    await waitFor(isCalm, { limitMs: 8000, what: 'the end of the degraded state' });
    expect(count(AGAIN)).toBe(count(DEGRADED));
  });

  it('does not enter and leave that state with every request that a subset has nobody for', async () => {
    const upstream = await namedUpstream('fine');
    const fallback = { chain: [respond('text/plain', 'soon')] };
    const gateway = await gatewayFor({
      endpoints: [upstream.port],
      route: { fallback },
      otherRoutes: { new: { match: [{ paths: ['/new'] }], subset: { tags: ['new'] }, fallback } },
    });
    for (let at = 0; at < 5; at++) {
      expect(await ask(gateway.port, get('/new'))).toMatchObject({ content: 'soon' });
      expect(await ask(gateway.port, get('/'))).toMatchObject({ content: 'fine' });
    }
    // One line, unless this machine stood still for seconds; not one for every request.
    expect(gateway.logLines.filter((line) => line.includes(DEGRADED) || line.includes(AGAIN)).length).toBeLessThan(5);
  });

  it('by hand is answered for by the fallback whatever that is for, and without one by 503', async () => {
    const upstream = await namedUpstream('fine');
    const fallback = { on: ['empty'], chain: [respond('text/plain', 'soon')] };
    for (const [route, content] of [[{ fallback }, 'soon'] as const, [{}, ''] as const]) {
      const gateway = await gatewayFor({ endpoints: [upstream.port], route });
      gateway.service.setMaintenance(true);
      const answer = await ask(gateway.port, get('/'));
      expect(answer.status).toBe(503);
      if (content === '') {
        expect([fieldOf(answer, 'retry-after'), fieldOf(answer, 'proxy-status')]).toEqual([
          '30',
          'weir; error=destination_unavailable',
        ]);
      } else {
        expect(answer.content).toBe(content);
        expect(fieldOf(answer, 'x-degraded')).toMatch(/^maintenance; source=respond; since=/);
      }
      gateway.service.setMaintenance(false);
      expect(await ask(gateway.port, get('/'))).toMatchObject({ content: 'fine' });
    }
    expect(requestsOf(upstream)).toBe(2);
  });
});

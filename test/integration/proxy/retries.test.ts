// Which requests are sent again to another endpoint, how often, and what the counts say of it.
import { describe, expect, it } from 'vitest';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, namedUpstream, namedUpstreams, requestsOf, sayingName } from '../../support/named-upstream.ts';
import type { RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

endAfterEach();

const breakingOff = ({ socket }: RawConnection) => void socket.end();
const NO_EJECTION = { consecutiveFailures: 1_000_000, failurePercent: 'off' };

function requestOf(method: string, fields = ''): string {
  const content = method === 'POST' || method === 'PUT' || method === 'PATCH' ? 'Content-Length: 5\r\n' : '';
  const body = content === '' ? '' : 'money';
  return `${method} / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${content}${fields}\r\n${body}`;
}

describe('a request whose endpoint broke off after it was sent', () => {
  it.each(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])('is sent to another one as a %s', async (method) => {
    const [bad, good] = [await upstreamThat(breakingOff), await namedUpstream('good')];
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route: { ejection: NO_EJECTION } });
    for (let at = 0; at < 4; at++) expect((await ask(gateway.port, requestOf(method))).status).toBe(200);
    expect([requestsOf(bad), requestsOf(good), gateway.service.retries('reset')]).toEqual([4, 4, 4]);
    const attempts = [
      { outcome: 'connection_terminated', endpoint: `127.0.0.1:${bad.port}` },
      { outcome: 'success', endpoint: `127.0.0.1:${good.port}` },
    ];
    for (const record of gateway.records) expect(record).toMatchObject({ status: 200, error: null, attempts });
  });

  it.each(['POST', 'PATCH', 'PROPFIND'])('is not sent again as a %s, and the denial is counted', async (method) => {
    const [bad, good] = [await upstreamThat(breakingOff), await namedUpstream('good')];
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route: { ejection: NO_EJECTION } });
    const statuses = [];
    for (let at = 0; at < 4; at++) statuses.push((await ask(gateway.port, requestOf(method))).status);
    expect(statuses.toSorted()).toEqual([200, 200, 502, 502]);
    expect([requestsOf(bad), requestsOf(good)]).toEqual([2, 2]);
    expect([gateway.service.retries('reset'), gateway.service.denials('method')]).toEqual([0, 2]);
  });

  it('is sent again as a POST with an Idempotency-Key', async () => {
    const [bad, good] = [await upstreamThat(breakingOff), await namedUpstream('good')];
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route: { ejection: NO_EJECTION } });
    const keyed = requestOf('POST', 'Idempotency-Key: "k"\r\n');
    for (let at = 0; at < 4; at++) expect((await ask(gateway.port, keyed)).status).toBe(200);
    expect([requestsOf(bad), requestsOf(good)]).toEqual([4, 4]);
    expect(good.received().match(/\r\n\r\nmoney/g)).toHaveLength(4);
  });

  it('is not sent again when the content was too large to keep, and the denial is counted', async () => {
    const [bad, good] = [await upstreamThat(breakingOff), await namedUpstream('good')];
    const route = { ejection: NO_EJECTION, retry: { bodyBuffer: '4B' } };
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route });
    const statuses = [];
    for (let at = 0; at < 2; at++) statuses.push((await ask(gateway.port, requestOf('PUT'))).status);
    expect(statuses.toSorted()).toEqual([200, 502]);
    expect(gateway.service.denials('body')).toBe(1);
  });
});

describe('retries', () => {
  it('are at most as many as attempts says, each at another endpoint', async () => {
    const bad = await Promise.all(Array.from({ length: 5 }, () => upstreamThat(breakingOff)));
    const route = { ejection: NO_EJECTION, retry: { attempts: 3 } };
    const gateway = await gatewayFor({ endpoints: bad.map(({ port }) => port), route });
    for (let at = 0; at < 10; at++) expect((await ask(gateway.port, requestOf('GET'))).status).toBe(502);
    for (const { attempts } of gateway.records) {
      expect(new Set(attempts.map(({ endpoint }) => endpoint)).size).toBe(3);
    }
    expect(gateway.service.retries('reset')).toBe(20);
  });

  it('are not counted where there was nobody else to ask', async () => {
    const [dead = 0] = await findFreePorts(1);
    const gateway = await gatewayFor({ endpoints: [dead], route: { ejection: NO_EJECTION } });
    expect((await ask(gateway.port, requestOf('GET'))).status).toBe(502);
    expect(gateway.records[0]?.attempts).toHaveLength(1);
    expect(gateway.service.retries('connect')).toBe(0);
  });

  it.each([
    ['connect', 'connection_refused'],
    ['reset', 'connection_terminated'],
    ['timeout', 'http_response_timeout'],
  ])('are made after a failure of kind %s only if retry.on names it', async (kind, error) => {
    const [dead = 0] = kind === 'connect' ? await findFreePorts(1) : [];
    const bad = kind === 'connect' ? dead : (await upstreamThat(kind === 'reset' ? breakingOff : () => undefined)).port;
    const good = await namedUpstream('good');
    const others = ['connect', 'reset', 'timeout'].filter((each) => each !== kind);
    for (const [on, worst] of [[[kind], 200] as const, [others, kind === 'timeout' ? 504 : 502] as const]) {
      const route = { ejection: NO_EJECTION, retry: { on }, timeout: { response: '100ms' } };
      const gateway = await gatewayFor({ endpoints: [bad, good.port], route });
      const statuses = [];
      for (let at = 0; at < 2; at++) statuses.push((await ask(gateway.port, requestOf('GET'))).status);
      expect(Math.max(...statuses)).toBe(worst);
      expect(gateway.records.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome))).toContain(error);
    }
  });

  it('stay within the budget: a floor, or a share of the requests of the last ten seconds', async () => {
    const [bad, good] = [await upstreamThat(breakingOff), await namedUpstream('good')];
    const route = { ejection: NO_EJECTION, retry: { budget: '10%', minPerSecond: 0 } };
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route });
    for (let at = 0; at < 100; at++) await ask(gateway.port, requestOf('GET'));
    const made = gateway.service.retries('reset');
    // A tenth of all requests so far, and one more that was still allowed.
    expect(made).toBeGreaterThan(5);
    expect(made).toBeLessThanOrEqual(11);
    const denied = gateway.service.denials('budget');
    expect(denied).toBeGreaterThan(20);
    expect(gateway.records.filter(({ status }) => status === 502)).toHaveLength(denied);
    expect(gateway.records.filter(({ attempts }) => attempts.length === 2)).toHaveLength(made);
  });

  it('are always allowed up to the floor, and without a budget always', async () => {
    const [bad, good] = [await upstreamThat(breakingOff), await namedUpstream('good')];
    for (const retry of [{ budget: '1%', minPerSecond: 3 }, { budget: 'off' }]) {
      const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route: { ejection: NO_EJECTION, retry } });
      for (let at = 0; at < 30; at++) expect((await ask(gateway.port, requestOf('GET'))).status).toBe(200);
      expect([gateway.service.retries('reset'), gateway.service.denials('budget')]).toEqual([30, 0]);
    }
  });
});

describe('an answer', () => {
  it.each([502, 503, 504])('of %s is asked for again elsewhere', async (status) => {
    const bad = await upstreamThat(sayingName('bad', `${status} Bad`));
    const good = await namedUpstream('good');
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route: { ejection: NO_EJECTION } });
    for (let at = 0; at < 4; at++) expect(await ask(gateway.port, requestOf('GET'))).toMatchObject({ content: 'good' });
    expect([requestsOf(bad), gateway.service.retries('status')]).toEqual([4, 4]);
    for (const record of gateway.records) {
      expect(record).toMatchObject({ status: 200, attempts: [{ outcome: 'status' }, { outcome: 'success' }] });
    }
  });

  it.each([500, 501, 505])('of %s goes to the client as it is', async (status) => {
    const bad = await upstreamThat(sayingName('word', `${status} Mine`, 'X-App: 1\r\n'));
    const gateway = await gatewayFor({ endpoints: [bad.port, (await namedUpstream('good')).port] });
    const answers = [await ask(gateway.port, requestOf('GET')), await ask(gateway.port, requestOf('GET'))];
    const theirs = answers.find((answer) => answer.status === status);
    expect(theirs).toMatchObject({ content: 'word', head: expect.stringContaining(`HTTP/1.1 ${status} Mine\r\n`) });
    expect(theirs?.head).toContain('X-App: 1\r\n');
    expect(theirs?.head).not.toMatch(/x-degraded|problem/i);
    expect(gateway.service.retries('status')).toBe(0);
  });

  it('of 503 to a POST goes to the client as it is', async () => {
    const bad = await upstreamThat(sayingName('busy', '503 Busy'));
    const gateway = await gatewayFor({ endpoints: [bad.port, (await namedUpstream('good')).port] });
    const answers = [await ask(gateway.port, requestOf('POST')), await ask(gateway.port, requestOf('POST'))];
    expect(answers.map(({ content }) => content).toSorted()).toEqual(['busy', 'good']);
    expect(gateway.service.denials('method')).toBe(1);
  });

  it('that the last endpoint gives after the others failed goes to the client', async () => {
    const upstreams = await Promise.all(['a', 'b'].map((name) => upstreamThat(sayingName(name, '503 Busy'))));
    const gateway = await gatewayFor({ endpoints: upstreams.map(({ port }) => port) });
    const answer = await ask(gateway.port, requestOf('GET'));
    expect(answer.head).toContain('HTTP/1.1 503 Busy\r\n');
    expect(upstreams.map(requestsOf)).toEqual([1, 1]);
  });

  it('with Retry-After, or of 429, is load and no failure', async () => {
    const loaded = await upstreamThat(sayingName('loaded', '503 Busy', 'Retry-After: 1\r\n'));
    const limited = await upstreamThat(sayingName('limited', '429 Slow Down'));
    const [good] = await namedUpstreams('good');
    const route = { ejection: { consecutiveFailures: 2, failurePercent: 1, minRequests: 1 } };
    const ports = [loaded.port, limited.port, good?.port ?? 0];
    const gateway = await gatewayFor({ endpoints: ports, route });
    for (let at = 0; at < 30; at++) await ask(gateway.port, requestOf('GET'));
    expect(gateway.endpoints().map(({ state, failures }) => [state, failures])).toEqual(ports.map(() => ['active', 0]));
    expect(Math.min(requestsOf(loaded), requestsOf(limited))).toBeGreaterThanOrEqual(8);
  });
});

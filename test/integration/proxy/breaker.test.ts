// The breaker of a service: it opens, answers for the service, tries it with a few requests, and closes.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../gateway/core/clock.ts';
import { ask, fieldOf, requestsOf, sayingName, type TextAnswer } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import type { RawConnection, RawUpstream } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const BREAKER = { failurePercent: 50, minRequests: 4, window: '10s', open: '300ms', probes: 2 };
const LONG = { ...BREAKER, open: '60s' };
const NO_EJECTION = { consecutiveFailures: 1_000_000, failurePercent: 'off' };
const FALLBACK = { chain: [{ respond: { status: 503, body: 'soon' } }] };

const bad = sayingName('bad', '500 Oops');
const good = sayingName('good');

interface Scene {
  readonly gateway: TestGateway;
  readonly upstream: RawUpstream;
  /** How the service answers from now on. */
  become(script: (connection: RawConnection) => void): void;
}

/** A service that fails, behind a closed breaker. */
async function scene(route: object = {}): Promise<Scene> {
  let answer = bad;
  const upstream = await upstreamThat((connection) => answer(connection));
  const gateway = await gatewayFor({
    endpoints: [upstream.port],
    route: { breaker: BREAKER, ejection: NO_EJECTION, ...route },
  });
  const become = (script: typeof answer) => {
    answer = script;
  };
  return { gateway, upstream, become };
}

function asking({ gateway }: Scene): Promise<TextAnswer> {
  return ask(gateway.port, get('/'));
}

async function statusesOf(scene: Scene, count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at++) statuses.push((await asking(scene)).status);
  return statuses;
}

function stateOf({ gateway }: Scene): string {
  return gateway.service.breaker(systemClock.nowMs()).state;
}

/** Makes the breaker open, and waits until it lets probes through; asks for nothing meanwhile. */
async function halfOpen(scene: Scene): Promise<void> {
  await statusesOf(scene, 4);
  await waitFor(() => stateOf(scene) === 'half_open', { limitMs: 3000, what: 'a breaker that is half open' });
}

describe('a breaker', () => {
  it('opens when too many attempts fail, and asks nobody while it is open', async () => {
    const subject = await scene({ breaker: LONG });
    const { gateway, upstream } = subject;
    subject.become(good);
    await statusesOf(subject, 3);
    subject.become(bad);
    // Three good, three bad: the half.
    expect(await statusesOf(subject, 5)).toEqual([500, 500, 500, 503, 503]);
    const refused = await asking(subject);
    expect(Number(fieldOf(refused, 'retry-after'))).toBeGreaterThan(0);
    expect(fieldOf(refused, 'proxy-status')).toBe('weir; error=destination_unavailable');
    expect(gateway.records.at(-1)).toMatchObject({ status: 503, error: 'breaker_open', attempts: [] });
    const post = 'POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
    expect((await ask(gateway.port, post)).status).toBe(503);
    expect(requestsOf(upstream)).toBe(6);
    expect([stateOf(subject), gateway.service.timesOpened()]).toEqual(['open', 1]);
    expect(gateway.logLines.filter((line) => line.startsWith('breaker opened'))).toHaveLength(1);
  });

  it('lets the fallback answer while it is open', async () => {
    const subject = await scene({ breaker: LONG, fallback: FALLBACK });
    expect(await statusesOf(subject, 4)).toEqual([500, 500, 500, 500]);
    const answer = await asking(subject);
    expect(answer).toMatchObject({ status: 503, content: 'soon' });
    expect(fieldOf(answer, 'x-degraded')).toMatch(/^breaker; source=respond; since=/);
    expect(subject.gateway.records.at(-1)).toMatchObject({ degraded: 'breaker; source=respond', attempts: [] });
    expect(requestsOf(subject.upstream)).toBe(4);
  });

  it('stays closed below its least number of attempts, and for what is no failure', async () => {
    const subject = await scene();
    await statusesOf(subject, 3);
    for (const script of [good, sayingName('x', '404 Missing'), sayingName('x', '503 Busy', 'Retry-After: 1\r\n')]) {
      subject.become(script);
      await statusesOf(subject, 3);
    }
    expect([stateOf(subject), subject.gateway.service.timesOpened()]).toEqual(['closed', 0]);
  });

  it('lets no more than its probes through when its time is over, and closes when all of them are good', async () => {
    const subject = await scene({ breaker: { ...BREAKER, open: '2s' } });
    const { gateway, upstream } = subject;
    const held: RawConnection[] = [];
    await halfOpen(subject);
    subject.become((connection) => void held.push(connection));
    const clients = await Promise.all(Array.from({ length: 2 }, () => RawClient.connect(gateway.port)));
    for (const client of clients) client.send(get('/probe'));
    await waitFor(() => held.length === 2, { limitMs: 2000, what: 'two probes' });
    expect((await asking(subject)).status).toBe(503);
    expect(requestsOf(upstream)).toBe(6);
    subject.become(good);
    for (const connection of held) good(connection);
    for (const client of clients) expect(await client.untilClosed()).toContain('200 OK');
    expect(stateOf(subject)).toBe('closed');
    expect(await statusesOf(subject, 3)).toEqual([200, 200, 200]);
    expect(gateway.logLines.filter((line) => line.startsWith('breaker closed'))).toHaveLength(1);
  });

  it('opens again when a probe fails', async () => {
    const subject = await scene();
    const { gateway, upstream } = subject;
    await halfOpen(subject);
    expect((await asking(subject)).status).toBe(500);
    expect(gateway.service.timesOpened()).toBe(2);
    expect(requestsOf(upstream)).toBe(5);
  });

  it('begins its window afresh when it has closed: what was before does not open it again', async () => {
    const subject = await scene({ breaker: { ...BREAKER, window: '10m' } });
    await halfOpen(subject);
    subject.become(good);
    await waitFor(async () => (await asking(subject)).status === 200 && stateOf(subject) === 'closed', {
      limitMs: 5000,
      what: 'a breaker that is closed',
    });
    subject.become(bad);
    expect(await statusesOf(subject, 3)).toEqual([500, 500, 500]);
    expect(stateOf(subject)).toBe('closed');
    expect(subject.gateway.service.timesOpened()).toBe(1);
    // But it opens again for as many failures as before.
    await asking(subject);
    expect(stateOf(subject)).not.toBe('closed');
  });

  it('gives a probe whose client left to the next request', async () => {
    const subject = await scene({ breaker: { ...BREAKER, open: '1s', probes: 1 } });
    await halfOpen(subject);
    subject.become(() => undefined);
    const client = await RawClient.connect(subject.gateway.port);
    client.send(get('/'));
    await waitFor(() => requestsOf(subject.upstream) === 5, { limitMs: 2000, what: 'the probe' });
    client.reset();
    await waitFor(() => subject.gateway.records.at(-1)?.error === 'client_gone', { limitMs: 2000, what: 'its end' });
    subject.become(good);
    expect((await asking(subject)).status).toBe(200);
    expect(stateOf(subject)).toBe('closed');
  });

  it('makes an end of retries: a request whose attempt opened it is told why its attempt failed', async () => {
    const broken = await upstreamThat(({ socket }) => void socket.end());
    const other = await upstreamThat(({ socket }) => void socket.end());
    const route = { breaker: { ...LONG, minRequests: 1 }, ejection: NO_EJECTION };
    const gateway = await gatewayFor({ endpoints: [broken.port, other.port], route });
    const answer = await ask(gateway.port, get('/'));
    expect([answer.status, fieldOf(answer, 'proxy-status')]).toEqual([502, 'weir; error=connection_terminated']);
    expect(requestsOf(broken) + requestsOf(other)).toBe(1);
    expect(gateway.service.retries('reset')).toBe(0);
  });
});

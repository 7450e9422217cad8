// WebSockets behind each check: refused as any request is, tunnelled when they may come in, whatever happens meanwhile.
import { describe, expect, it } from 'vitest';
import { basicLine, KEEP_OUT, LET_IN, startJudge, USERS } from '../../support/access-scene.ts';
import { ask, fieldOf, sayingName } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGatewayOptions } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const limitMs = 5000;
const BASIC = { basic: { users: 'users' } };
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
const OPENED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n<open>';

function upgrade(fields = ''): string {
  return `GET /ws HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${KEY}${fields}\r\n`;
}

async function scene(route: Readonly<Record<string, unknown>>, more: Partial<TestGatewayOptions> = {}) {
  const upstream = await upstreamThat((connection, head) => {
    if (/^upgrade:/im.test(head)) connection.socket.write(OPENED);
    else sayingName('served')(connection);
  });
  const gateway = await gatewayFor({ endpoints: [upstream.port], users: USERS, route, ...more });
  return { upstream, gateway, client: await RawClient.connect(gateway.port) };
}

describe('an upgrade that may not come in', () => {
  it.each([
    ['its address', { deny: ['0.0.0.0/0'] }, 403],
    ['its user', { auth: BASIC }, 401],
    ['its token', { auth: { jwt: { jwks: 'keys' } } }, 401],
  ])('for %s is refused like any request, and its connection can be used', async (_why, route, status) => {
    const { gateway, upstream, client } = await scene(route, {
      otherRoutes: { open: { match: [{ paths: ['/open'] }] } },
    });
    client.send(upgrade());
    expect(await client.until('}')).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(client.received).toContain('application/problem+json');
    client.send(get('/open'));
    expect(await client.untilClosed()).toMatch(/}HTTP\/1\.1 200 [\s\S]*served$/);
    expect(upstream.received()).not.toMatch(/^upgrade:/im);
    expect(gateway.records).toMatchObject([{ route: 'r', status, method: 'GET', attempts: [] }, { status: 200 }]);
  });

  it('for the word of another service gets its answer', async () => {
    const judge = await startJudge({ octets: KEEP_OUT });
    const { client, upstream } = await scene({ auth: judge.auth });
    client.send(upgrade());
    expect(await client.until('\r\n\r\nno')).toMatch(/^HTTP\/1\.1 401 [\s\S]*WWW-Authenticate: Token\r\n/);
    expect(upstream.received()).toBe('');
    client.close();
  });

  it('uses up no rate and takes no place', async () => {
    const limits = { rateLimit: [{ rate: '1/h', burst: 1 }], concurrency: { max: 1 } };
    const { gateway, client } = await scene({ auth: BASIC, ...limits });
    expect((await ask(gateway.port, upgrade('Connection: close\r\n'))).status).toBe(401);
    expect(gateway.counts.concurrency().running).toBe(0);
    client.send(upgrade(basicLine()));
    expect(await client.until('<open>')).toContain('HTTP/1.1 101 ');
    expect(gateway.counts.concurrency().running).toBe(1);
    client.close();
  });
});

describe('an upgrade that may come in', () => {
  it('tells the service who it is, and not what the client claims', async () => {
    const { upstream, client } = await scene({ auth: BASIC }, { users: USERS.replace('anna', 'voilà') });
    client.send(upgrade(`X-User: root\r\nX_User: root\r\n${basicLine('voilà')}`));
    await client.until('<open>');
    const received = Buffer.from(upstream.received(), 'latin1').toString();
    expect(received.match(/^x.user: .*$/gim)).toEqual(['x-user: voilà']);
    expect(received).not.toMatch(/root|authorization/i);
    client.close();
  });

  it('takes the frames along that were sent behind its head during the check', async () => {
    const judge = await startJudge();
    const { upstream, client } = await scene({ auth: judge.auth });
    client.send(`${upgrade()}early`);
    await judge.asked(1);
    client.send(' later');
    judge.answer(0, LET_IN);
    await client.until('<open>');
    client.send(' after');
    await waitFor(() => upstream.received().endsWith('early later after'), { limitMs, what: 'all frames' });
    upstream.connections[0]?.socket.write('answer');
    expect(await client.until('answer')).toMatch(/<open>answer$/);
    client.close();
  });

  it('takes many of them along, although only a little is read ahead', async () => {
    const judge = await startJudge();
    const { upstream, client } = await scene({ auth: judge.auth });
    const frames = 'f'.repeat(1_000_000);
    client.send(upgrade());
    await judge.asked(1);
    client.send(`${frames}end`);
    judge.answer(0, LET_IN);
    await client.until('<open>');
    await waitFor(() => upstream.received().endsWith(`\r\n\r\n${frames}end`), { limitMs, what: 'all frames' });
    client.close();
  });

  it('is limited behind the check, and refused by it as other upgrades are', async () => {
    const { gateway, client } = await scene({ auth: BASIC, concurrency: { max: 1 } });
    client.send(upgrade(basicLine()));
    await client.until('<open>');
    const answer = await ask(gateway.port, upgrade(basicLine()));
    expect([answer.status, fieldOf(answer, 'proxy-status')]).toEqual([503, 'weir; error=connection_limit_reached']);
    client.close();
  });

  it('is tunnelled and then ended when the gateway drains during its check', async () => {
    const judge = await startJudge();
    const { gateway, client } = await scene({ auth: judge.auth });
    client.send(upgrade());
    await judge.asked(1);
    const drained = gateway.drain();
    judge.answer(0, LET_IN);
    await client.untilClosed();
    await drained;
    await waitFor(() => gateway.endpoints()[0]?.inFlight === 0, { limitMs, what: 'the tunnel to be gone' });
    expect(gateway.records).toHaveLength(1);
  });
});

describe('a client that leaves while its upgrade is checked', () => {
  it.each([
    ['altogether', (client: RawClient) => client.reset()],
    ['by half', (client: RawClient) => client.socket.end()],
  ])('%s is gone: nothing goes to the service', async (_how, leave) => {
    const judge = await startJudge();
    const { gateway, upstream, client } = await scene({ auth: judge.auth });
    client.send(upgrade());
    await judge.asked(1);
    leave(client);
    await judge.calledOff(0);
    await waitFor(() => gateway.records.length === 1, { limitMs, what: 'the record' });
    expect(gateway.records).toMatchObject([{ route: 'r', status: 0, error: 'client_gone' }]);
    expect(upstream.received()).toBe('');
    await waitFor(() => gateway.connections().downstream === 0, { limitMs, what: 'the connection to be gone' });
  });
});

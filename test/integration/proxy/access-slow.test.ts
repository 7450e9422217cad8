// Checks that take their time: content that arrives meanwhile, clients that leave, routes and workers that end.
import { describe, expect, it } from 'vitest';
import { KEEP_OUT, LET_IN, startJudge } from '../../support/access-scene.ts';
import { ask, fieldOf, namedUpstream, requestsOf } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, nodeUpstream } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const limitMs = 5000;

async function scene(more = {}) {
  const judge = await startJudge();
  const upstream = await namedUpstream('served');
  const gateway = await gatewayFor({ endpoints: [upstream.port], route: { auth: judge.auth, ...more } });
  return { judge, upstream, gateway, client: await RawClient.connect(gateway.port) };
}

describe('while a request is checked', () => {
  it('the requests behind it wait, and are answered in their order', async () => {
    const { judge, client, upstream, gateway } = await scene();
    client.send(`GET /1 HTTP/1.1\r\nHost: s\r\n\r\nGET /2 HTTP/1.1\r\nHost: s\r\n\r\n${get('/3')}`);
    await judge.asked(1);
    expect([judge.heads.length, requestsOf(upstream), gateway.counts.inFlight()]).toEqual([1, 0, 1]);
    judge.answer(0, KEEP_OUT);
    await judge.asked(2);
    judge.answer(1, LET_IN);
    await judge.asked(3);
    judge.answer(2, KEEP_OUT);
    const received = await client.untilClosed();
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200', 'HTTP/1.1 401']);
    expect(judge.heads.map((head) => /x-forwarded-uri: (.*)/i.exec(head)?.[1])).toEqual(['/1', '/2', '/3']);
    expect(upstream.received()).toContain('GET /2 ');
    expect(gateway.counts.inFlight()).toBe(0);
  });

  it('content that arrives in pieces is kept for the service', async () => {
    const judge = await startJudge();
    const upstream = await nodeUpstream();
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { auth: judge.auth } });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n');
    await judge.asked(1);
    client.send('4\r\n two\r\n');
    client.send('6\r\n three');
    judge.answer(0, LET_IN);
    await waitFor(() => gateway.endpoints()[0]?.inFlight === 1, { limitMs, what: 'the request to go on' });
    client.send('\r\n0\r\n\r\n');
    await client.untilClosed();
    expect(upstream.requests).toMatchObject([{ content: 'one two three' }]);
  });

  it('no more content is read than a little', async () => {
    const { judge, client, upstream } = await scene();
    const size = 30_000_000;
    client.send(`POST / HTTP/1.1\r\nHost: s\r\nContent-Length: ${size}\r\n\r\n`);
    client.socket.write(Buffer.alloc(size));
    await judge.asked(1);
    // It is not taken by the gateway, and too much for the buffers of the system.
    await waitFor(() => client.socket.writableLength > 0, { limitMs, what: 'the client to be held up' });
    let before = -1;
    const standsStill = () => {
      const isSame = before === client.socket.bytesWritten - client.socket.writableLength;
      before = client.socket.bytesWritten - client.socket.writableLength;
      return isSame;
    };
    await waitFor(standsStill, { limitMs, what: 'nothing more to be read' });
    judge.answer(0, KEEP_OUT);
    expect(await client.until('no')).toMatch(/^HTTP\/1\.1 401 [\s\S]*Connection: close\r\n/);
    client.close();
    expect(requestsOf(upstream)).toBe(0);
  });

  it('the client may leave: the check is called off, and the request is counted and logged as others are', async () => {
    const { judge, client, gateway, upstream } = await scene();
    client.send('GET /gone HTTP/1.1\r\nHost: s\r\n\r\n');
    await judge.asked(1);
    client.close();
    await judge.calledOff(0);
    await waitFor(() => gateway.records.length === 1, { limitMs, what: 'the record' });
    expect(gateway.records).toMatchObject([
      { route: 'r', path: '/gone', status: 0, error: 'client_gone', attempts: [] },
    ]);
    expect([gateway.counts.requests(0, 3), gateway.counts.inFlight()]).toEqual([1, 0]);
    expect(requestsOf(upstream)).toBe(0);
    await waitFor(() => gateway.connections().downstream === 0, { limitMs, what: 'the connection to be gone' });
  });

  it('the client may break a rule of the content: it is told so, and goes no further', async () => {
    const { judge, client, gateway, upstream } = await scene();
    client.send('POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n');
    await judge.asked(1);
    client.send('zzz\r\n');
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 400 /);
    await judge.calledOff(0);
    expect(requestsOf(upstream)).toBe(0);
    expect(gateway.counts.inFlight()).toBe(0);
  });

  it('a client that has sent its last word is answered', async () => {
    const { judge, client } = await scene();
    client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    client.socket.end();
    await judge.asked(1);
    judge.answer(0, LET_IN);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 [\s\S]*served$/);
  });

  it('its route may be removed: it goes on by the route that it came under, and no other one does', async () => {
    const { judge, client, gateway } = await scene();
    client.send(get('/'));
    await judge.asked(1);
    gateway.replaceRoutes({});
    judge.answer(0, LET_IN);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 [\s\S]*served$/);
    expect((await ask(gateway.port, get('/'))).status).toBe(404);
    expect(gateway.records).toMatchObject([
      { route: 'r', status: 200 },
      { route: null, status: 404 },
    ]);
  });

  it('the gateway may drain: the request is answered first, and its connection ends', async () => {
    const { judge, client, gateway } = await scene();
    client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    await judge.asked(1);
    const drained = gateway.drain();
    judge.answer(0, LET_IN);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close\r\n[\s\S]*served$/);
    await drained;
  });

  it('a service that does not answer in time means no', async () => {
    const judge = await startJudge({ timeout: '100ms' });
    const upstream = await namedUpstream('served');
    const otherRoutes = { open: { match: [{ paths: ['/open'] }] } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { auth: judge.auth }, otherRoutes });
    const [refused, served] = await Promise.all([ask(gateway.port, get('/')), ask(gateway.port, get('/open'))]);
    expect([refused.status, fieldOf(refused, 'retry-after')]).toEqual([503, '5']);
    expect(served.content).toBe('served');
    await judge.calledOff(0);
    expect(gateway.counts.refused('unavailable')).toBe(1);
  });
});

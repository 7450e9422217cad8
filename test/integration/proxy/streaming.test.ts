// Content on its way: at once, at the reader's pace, and never complete when it is not.
import { describe, expect, it } from 'vitest';
import { exchange, get, RawClient } from '../../support/raw-client.ts';
import { answering, OK, type RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

describe('a response', () => {
  it('shows its head and every event as soon as they are sent (case 43)', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send('GET /events HTTP/1.1\r\nHost: s\r\n\r\n');
    expect(await client.until('\r\n\r\n', 1000)).toContain('text/event-stream');
    for (const event of ['data: 1', 'data: 2']) {
      upstream.connections[0]?.socket.write(`9\r\n${event}\n\n\r\n`);
      await client.until(event, 1000);
    }
    upstream.connections[0]?.socket.write('0\r\n\r\n');
    await client.until('0\r\n\r\n', 1000);
    client.close();
  });

  it.each([
    ['a length', 'Content-Length: 10\r\n\r\nhello', (c: RawConnection) => c.socket.end()],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', (c: RawConnection) => c.socket.end()],
    [
      'chunks and a reset',
      'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
      (c: RawConnection) => c.socket.resetAndDestroy(),
    ],
  ])('that breaks off with %s never looks complete (cases 12 and 13)', async (_what, octets, breakOff) => {
    const upstream = await upstreamThat(({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\n${octets}`));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    await client.until('hello');
    for (const connection of upstream.connections) breakOff(connection);
    const answer = await client.untilClosed(1500);
    expect(answer).not.toContain('\r\n0\r\n\r\n');
    expect(answer.split('HTTP/1.1')).toHaveLength(2);
    await waitFor(() => gateway.records.length === 1, { limitMs: 1000, what: 'the record' });
    expect(gateway.records[0]).toMatchObject({ status: 200, error: 'truncated', attempts: [{ outcome: 'truncated' }] });
  });

  it.each([
    ['HEAD with a length', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n', 'Content-Length: 1234'],
    ['HEAD with chunks announced', 'HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', ''],
    ['304 with a length', 'GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n', 'Content-Length: 500'],
    ['204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
  ])('to %s has no content and is not waited for (cases 9 and 10)', async (_what, method, octets, wanted) => {
    const upstream = await upstreamThat(answering(octets));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(`${method} / HTTP/1.1\r\nHost: s\r\n\r\n`);
    const answer = await client.until('\r\n\r\n', 1000);
    expect(answer).toMatch(/\r\n\r\n$/);
    expect(answer).toContain(wanted);
    client.send(`${method} /2 HTTP/1.1\r\nHost: s\r\n\r\n`);
    await client.until((text) => text.split('HTTP/1.1').length === 3, 1000);
    client.close();
  });

  it('without a length or chunks ends with its connection and leaves the client its (case 39)', async () => {
    const upstream = await upstreamThat(({ socket }) => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    for (const count of [2, 3]) {
      client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
      await client.until((text) => text.split('0\r\n\r\n').length === count);
    }
    expect(client.received).toContain('5\r\nhello\r\n0\r\n\r\n');
    client.close();
  });

  it('keeps its trailers', async () => {
    const upstream = await upstreamThat(
      answering(
        'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: abc\r\n\r\n',
      ),
    );
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    expect(await exchange(gateway.port, get('/'))).toContain('0\r\nX-Sum: abc\r\n\r\n');
  });

  it('is read no faster than the client reads it (case 45)', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let offered = 0;
    const upstream = await upstreamThat(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${200 * 1024 * 1024}\r\n\r\n`);
      const push = (): void => {
        while (offered < 200 * 1024 * 1024) {
          offered += chunk.length;
          if (!socket.write(chunk)) {
            socket.once('drain', push);
            return;
          }
        }
      };
      push();
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.socket.pause();
    client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    let [last, unchangedSince] = [-1, 0];
    const isHeldUp = (): boolean => {
      if (offered !== last) [last, unchangedSince] = [offered, performance.now()];
      return offered > 0 && performance.now() - unchangedSince > 500;
    };
    await waitFor(isHeldUp, { limitMs: 5000, what: 'the upstream to be held up' });
    expect(offered).toBeLessThan(32 * 1024 * 1024);
    client.close();
    await waitFor(() => upstream.open() === 0, { limitMs: 2000, what: 'the upstream connection to be freed' });
  });

  it('to a client that leaves frees the upstream within a second (case 18)', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(gateway.port)));
    for (const client of clients) client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    await Promise.all(clients.map((client) => client.until('hello')));
    for (const client of clients) client.reset();
    await waitFor(() => upstream.open() === 0, { limitMs: 1000, what: 'all upstream connections to be freed' });
    await waitFor(() => gateway.records.length === 50, { limitMs: 1000, what: 'the records' });
    expect(new Set(gateway.records.map(({ error }) => error))).toEqual(new Set(['client_gone']));
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0, inFlight: 0 });
  });
});

describe('a request', () => {
  it.each([
    ['a length', 'Content-Length: 3\r\n\r\nabc', /content-length: 3\r\n/i],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n', /transfer-encoding: chunked\r\n/i],
  ])('with %s keeps its content, whatever its method (case 6)', async (_what, framing, wanted) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const upstream = await upstreamThat(({ socket, received }) => {
        if (received.includes('abc')) socket.write(OK);
        else socket.once('data', () => socket.write(OK));
      });
      const gateway = await gatewayFor({ endpoints: [upstream.port] });
      const answer = await exchange(
        gateway.port,
        `${method} /g HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${framing}`,
      );
      expect(`${method} ${answer.slice(0, 15)}`).toBe(`${method} HTTP/1.1 200 OK`);
      expect(upstream.received()).toMatch(wanted);
      expect(upstream.received()).toContain('abc');
    }
  });

  it.each([
    ['a length', 'Content-Length: 1000\r\n\r\nabc'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('that breaks off with %s never looks complete to the upstream (case 19)', async (_what, framing) => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(`POST /u HTTP/1.1\r\nHost: s\r\n${framing}`);
    await waitFor(() => upstream.received().includes('abc'), { limitMs: 2000, what: 'the upload to begin' });
    client.reset();
    await waitFor(() => upstream.open() === 0, { limitMs: 1000, what: 'the upstream connection to be freed' });
    expect(upstream.received()).not.toContain('\r\n0\r\n\r\n');
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
  });

  it('may take its time to arrive, and is answered early where the upstream does', async () => {
    const upstream = await upstreamThat(answering('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig'));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send('POST /u HTTP/1.1\r\nHost: s\r\nContent-Length: 100000\r\n\r\nabc');
    expect(await client.until('big')).toContain('HTTP/1.1 413');
    client.close();
  });
});

// Requests and answers on their way through HTTP/2 streams: at once, at the reader's pace, and never whole when they are not.
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { findFreePorts } from '../../support/free-ports.ts';
import {
  CODE,
  content,
  FLAG,
  FRAME,
  GET,
  headers,
  POST,
  ping,
  reset,
  SETTING,
  windowUpdate,
} from '../../support/http2-frames.ts';
import {
  answerOf,
  ask,
  endHttp2AfterEach,
  http2GatewayFor,
  rawSessionTo,
  sessionTo,
} from '../../support/http2-scene.ts';
import { RawHttp2Client } from '../../support/raw-http2-client.ts';
import { answering, OK } from '../../support/raw-upstream.ts';
import { endAfterEach, nodeUpstream, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();

const MIB = 1024 * 1024;

/** Waits until `count` has not changed for a while, and returns it. */
async function standstill(count: () => number): Promise<number> {
  let [last, since] = [-1, 0];
  await waitFor(
    () => {
      if (count() !== last) [last, since] = [count(), performance.now()];
      return last > 0 && performance.now() - since > 400;
    },
    { limitMs: 20_000, what: 'nothing to move any more' },
  );
  return last;
}

describe('an answer', () => {
  it('shows its head and every event as soon as they are sent (case 43)', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
    });
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, GET));
    await client.until(({ type }) => type === FRAME.headers, 'the head', 1000);
    for (const [at, event] of ['data: 1\n\n', 'data: 2\n\n'].entries()) {
      upstream.connections[0]?.socket.write(`9\r\n${event}\r\n`);
      await waitFor(() => client.content(1).length === 9 * (at + 1), { limitMs: 1000, what: event });
    }
    upstream.connections[0]?.socket.write('0\r\n\r\n');
    expect(await client.fateOf(1)).toBe('status 200');
  });

  it('is small in as few frames as it takes', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, GET));
    await client.fateOf(1);
    const frames = client.frames.filter(({ streamId }) => streamId === 1).map(({ type, flags }) => [type, flags]);
    expect(frames).toEqual([
      [FRAME.headers, FLAG.endHeaders],
      [FRAME.data, FLAG.endStream],
    ]);
  });

  it('that is not read holds its endpoint up, and the other streams go on', async () => {
    let sent = 0;
    const upstream = await upstreamThat(({ socket }, head) => {
      if (!head.startsWith('GET /big')) {
        socket.write(OK);
        return;
      }
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const piece = Buffer.alloc(65_536);
      const push = () => {
        while (!socket.destroyed && sent < 256 * MIB) {
          sent += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on('drain', push);
      push();
    });
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(windowUpdate(0, 100 * MIB), headers(1, [...GET.slice(0, 2), [':path', '/big'], [':authority', 's']]));
    expect(await standstill(() => sent)).toBeLessThan(32 * MIB);
    expect(client.content(1)).toHaveLength(65_535);
    client.send(headers(3, GET));
    expect(await client.fateOf(3)).toBe('status 200');
    client.send(reset(1));
    await waitFor(() => gateway.records.length === 2, { limitMs: 1000, what: 'the record' });
  });

  it('of many mebibytes reaches a slow reader whole', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${8 * MIB}\r\n\r\n`);
      socket.write(Buffer.alloc(8 * MIB, 'abcdefg'));
    });
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const stream = sessionTo(gateway.port).request({ ':path': '/' });
    const read: Buffer[] = [];
    for await (const piece of stream) {
      read.push(piece);
      if (read.length % 64 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(Buffer.concat(read).equals(Buffer.alloc(8 * MIB, 'abcdefg'))).toBe(true);
    expect(gateway.records).toMatchObject([{ status: 200, bytes: 8 * MIB, error: null, version: '2' }]);
  });

  it('that comes before the content is all sent arrives, and frees the client of the rest', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, POST, 0), content(1, 'abc', 0));
    expect(await client.fateOf(1)).toBe('status 200');
    const end = await client.until(({ type }) => type === FRAME.reset);
    expect(end?.payload.readUInt32BE(0)).toBe(CODE.none);
    client.send(headers(3, GET));
    expect(await client.fateOf(3)).toBe('status 200');
  });

  it('with trailers that comes before the content is all sent arrives whole', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n';
    const upstream = await upstreamThat(answering(answer));
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, POST, 0), content(1, 'abc', 0));
    expect(await client.fateOf(1)).toBe('status 200');
    const end = await client.until(({ type }) => type === FRAME.reset);
    expect(end?.payload.readUInt32BE(0)).toBe(CODE.none);
  });
});

describe('a request', () => {
  it('flows upstream while it is sent, both ways at a time', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    });
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const stream = sessionTo(gateway.port).request({ ':path': '/', ':method': 'POST' });
    const answer = answerOf(stream);
    for (const word of ['one', 'two']) {
      stream.write(word);
      await waitFor(() => upstream.received().includes(word), { limitMs: 1000, what: word });
      upstream.connections[0]?.socket.write(`3\r\n${word}\r\n`);
    }
    stream.end();
    await waitFor(() => upstream.received().endsWith('0\r\n\r\n'), { limitMs: 1000, what: 'the end' });
    upstream.connections[0]?.socket.write('0\r\n\r\n');
    expect(await answer).toMatchObject({ status: 200, content: 'onetwo', resetCode: CODE.none });
  });

  it('whose endpoint does not read it is held up', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.pause());
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], route: { body: 'off' } });
    const stream = sessionTo(gateway.port).request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => undefined);
    let sent = 0;
    const push = () => {
      while (!stream.destroyed && sent < 256 * MIB) {
        sent += 65_536;
        if (!stream.write(Buffer.alloc(65_536))) return;
      }
    };
    stream.on('drain', push);
    push();
    expect(await standstill(() => sent)).toBeLessThan(32 * MIB);
    stream.close(CODE.cancel);
    await waitFor(() => gateway.records.length === 1, { limitMs: 1000, what: 'the record' });
  });

  it('with content goes to another endpoint when the first cannot be reached', async () => {
    const upstream = await nodeUpstream();
    const gateway = await http2GatewayFor({ endpoints: [...(await findFreePorts(1)), upstream.port] });
    for (let at = 0; at < 2; at++) {
      expect(await ask(sessionTo(gateway.port), { ':path': '/', ':method': 'POST' }, 'hello')).toMatchObject({
        status: 200,
      });
    }
    expect(upstream.requests.map(({ content: its }) => its)).toEqual(['hello', 'hello']);
    expect(gateway.records.map(({ attempts }) => attempts.length)).toContain(2);
  });

  it.each([
    ['announced', { 'content-length': '40' }],
    ['found out', {}],
  ])('that is too large, as is %s, is answered 413 and leaves the session as it is', async (_how, fields) => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], route: { body: '20B' } });
    const session = sessionTo(gateway.port);
    const answer = await ask(session, { ':path': '/', ':method': 'POST', ...fields }, 'x'.repeat(40));
    expect(answer).toMatchObject({ status: 413, headers: { 'content-type': 'application/problem+json' } });
    expect(await ask(session, { ':path': '/' })).toMatchObject({ status: 200 });
  });

  it('that expects 100-continue is asked to go on', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const stream = sessionTo(gateway.port).request({ ':path': '/', ':method': 'POST', expect: '100-continue' });
    const answer = answerOf(stream);
    await once(stream, 'continue');
    stream.end('hello');
    await waitFor(() => upstream.received().endsWith('0\r\n\r\n'), { limitMs: 1000, what: 'the content' });
    upstream.connections[0]?.socket.write(OK);
    expect(await answer).toMatchObject({ status: 200, content: 'ok' });
  });

  it('is one of a hundred at a time, each with its own answer', async () => {
    const upstream = await upstreamThat(({ socket }, head) => {
      const path = head.split(' ')[1] ?? '';
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
    });
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const session = sessionTo(gateway.port);
    const paths = Array.from({ length: 100 }, (_, at) => `/${at}`);
    const answers = await Promise.all(paths.map((path) => ask(session, { ':path': path })));
    expect(answers.map(({ content: its }) => its)).toEqual(paths);
  });
});

describe('a client', () => {
  it('that resets its stream frees the endpoint, and says nothing against it', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, GET));
    await waitFor(() => upstream.connections.length === 1, { limitMs: 1000, what: 'the request' });
    client.send(reset(1));
    await waitFor(() => upstream.open() === 0, { limitMs: 1000, what: 'the endpoint to be free' });
    expect(gateway.records).toMatchObject([{ status: 0, error: 'client_gone', version: '2' }]);
    expect(gateway.endpoints()).toMatchObject([{ failures: 0, inFlight: 0 }]);
  });

  it.each(['HEAD', 'GET'])('that resets a %s before its answer comes harms nobody', async (method) => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, [[':method', method], ...GET.slice(1)]));
    await waitFor(() => upstream.connections.length === 1, { limitMs: 1000, what: 'the request' });
    client.send(reset(1));
    upstream.connections[0]?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
    await waitFor(() => gateway.records.length === 1, { limitMs: 1000, what: 'the record' });
    client.send(headers(3, GET));
    await waitFor(() => upstream.connections.length === 2, { limitMs: 1000, what: 'the next request' });
    upstream.connections[1]?.socket.write(OK);
    expect(await client.fateOf(3)).toBe('status 200');
  });

  it.each<readonly [string, (client: Awaited<ReturnType<typeof rawSessionTo>>) => void]>([
    ['with a reset', ({ socket }) => socket.resetAndDestroy()],
    ['by closing its connection', ({ socket }) => void socket.end()],
  ])('that leaves %s frees all its endpoints within a second or so', async (_how, leave) => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, GET), headers(3, POST, 0), content(3, 'abc', 0));
    await waitFor(() => upstream.connections.length === 2, { limitMs: 1000, what: 'the requests' });
    leave(client);
    await waitFor(() => upstream.open() === 0, { limitMs: 1800, what: 'the endpoint to be free' });
    expect(gateway.records).toMatchObject([{ error: 'client_gone' }, { error: 'client_gone' }]);
  });
});

describe('a session that is drained', () => {
  it('says which requests it answers, answers them, takes no others, and ends', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, GET));
    await waitFor(() => upstream.connections.length === 1, { limitMs: 1000, what: 'the request' });
    const drained = gateway.drain();
    const end = await client.until(({ type }) => type === FRAME.goaway);
    expect([end?.payload.readUInt32BE(0), end?.payload.readUInt32BE(4)]).toEqual([1, CODE.none]);
    client.send(headers(3, GET), ping());
    await client.until(({ type }) => type === FRAME.ping);
    upstream.connections[0]?.socket.write(OK);
    expect(await client.fateOf(1)).toBe('status 200');
    await drained;
    expect(upstream.connections).toHaveLength(1);
  });

  it('ends when it has no request, even if its client keeps the connection open', async () => {
    const gateway = await http2GatewayFor({ endpoints: [] });
    const client = await rawSessionTo(gateway.port);
    client.socket.allowHalfOpen = true;
    await client.until(({ type }) => type === FRAME.settings);
    await gateway.drain();
  });
});

describe('a client that takes its time', () => {
  const silent = (timeouts: Record<string, string>) => http2GatewayFor({ endpoints: [], gateway: { timeouts } });

  it('has that of requestHead for its preface', async () => {
    const { port } = await silent({ requestHead: '300ms' });
    const client = await RawHttp2Client.silent(port);
    await client.untilClosed(2000);
  });

  it('has that of keepAlive without a request, and is told that the session ends', async () => {
    const { port } = await silent({ keepAlive: '300ms' });
    const client = await rawSessionTo(port);
    await client.untilClosed(4000);
    expect(client.frames.at(-1)).toMatchObject({ type: FRAME.goaway, payload: Buffer.alloc(8) });
  });

  it('has at most twice that of requestHead for a head that it does not end', async () => {
    const { port } = await silent({ requestHead: '300ms', keepAlive: '20s' });
    const client = await rawSessionTo(port);
    client.send(headers(1, GET), headers(3, GET).subarray(0, 12));
    expect(await client.fateOf(1)).toBe('status 503');
    await client.untilClosed(3000);
    expect(client.frames.at(-1)).toMatchObject({ type: FRAME.goaway });
  });

  it('has that of requestBody between two pieces of content', async () => {
    const upstream = await upstreamThat(() => undefined);
    const timeouts = { requestBody: '400ms' };
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], gateway: { timeouts } });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, POST, 0), content(1, 'abc', 0));
    expect(await client.fateOf(1, 3000)).toBe(`reset ${CODE.internal}`);
    expect(upstream.received()).not.toContain('\r\n0\r\n');
    expect(gateway.endpoints()).toMatchObject([{ failures: 0 }]);
  });

  it('has that of write to read its answer: then its stream ends, not the session', async () => {
    const upstream = await upstreamThat(
      answering(`HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`),
    );
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], gateway: { timeouts: { write: '500ms' } } });
    const client = await rawSessionTo(gateway.port, [SETTING.initialWindow, 10]);
    client.send(headers(1, GET));
    // Something is read all the time, but not this answer.
    const keepReading = setInterval(() => client.send(windowUpdate(0, 1)), 50);
    client.send(headers(3, GET));
    await waitFor(() => client.content(3).length === 10, { limitMs: 2000, what: 'the beginning' });
    expect(await client.fateOf(1, 4000)).toBe(`reset ${CODE.internal}`);
    clearInterval(keepReading);
    await waitFor(() => gateway.records.length === 2, { limitMs: 3000, what: 'the records' });
  });

  it('and reads nothing at all is cut', async () => {
    const upstream = await upstreamThat(
      answering(`HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n${'x'.repeat(900_000)}`),
    );
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], gateway: { timeouts: { write: '500ms' } } });
    const client = await rawSessionTo(gateway.port, [SETTING.initialWindow, 100 * MIB]);
    client.send(windowUpdate(0, 1000 * MIB), ...Array.from({ length: 50 }, (_, at) => headers(2 * at + 1, GET)));
    client.socket.pause();
    await waitFor(() => gateway.connections() === 0, { limitMs: 8000, what: 'the session to be cut' });
  });
});

// What a client may do to a session, and what that costs others: little, and for a short time.
import { describe, expect, it } from 'vitest';
import {
  block,
  CODE,
  content,
  FLAG,
  FRAME,
  frame,
  GET,
  headers,
  POST,
  ping,
  reset,
  SETTING,
  settings,
} from '../../support/http2-frames.ts';
import type { Http2Gateway } from '../../support/http2-gateway.ts';
import { endHttp2AfterEach, http2GatewayFor, rawSessionTo } from '../../support/http2-scene.ts';
import type { RawHttp2Client } from '../../support/raw-http2-client.ts';
import { OK } from '../../support/raw-upstream.ts';
import { endAfterEach, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();

const id = (at: number) => 2 * at + 1;
const repeat = (count: number, octets: (at: number) => readonly Buffer[]) => {
  return Array.from({ length: count }, (_, at) => octets(at)).flat();
};

/** Says why the session ended: the error code of its last GOAWAY; undefined when there was none. */
async function endOf(client: RawHttp2Client): Promise<number | undefined> {
  await client.untilClosed(10_000);
  return client.frames.findLast(({ type }) => type === FRAME.goaway)?.payload.readUInt32BE(4);
}

async function servesOthers({ port }: Http2Gateway): Promise<void> {
  const other = await rawSessionTo(port);
  other.send(headers(1, GET));
  expect(await other.fateOf(1)).toBe('status 200');
}

describe('the session ends when its client floods it with', () => {
  it.each<readonly [what: string, octets: readonly Buffer[], code: number]>([
    ['requests that it resets at once', repeat(2000, (at) => [headers(id(at), GET), reset(id(at))]), CODE.calm],
    ['PING', repeat(1000, () => [ping()]), CODE.calm],
    ['SETTINGS', repeat(1000, () => [settings([SETTING.initialWindow, 65_535])]), CODE.calm],
    // The codes of these are node:http2's own.
    ['streams beyond those that are allowed', repeat(400, (at) => [headers(id(at), POST, 0)]), CODE.internal],
    ['malformed requests', repeat(300, (at) => [headers(id(at), [...GET, ['connection', 'x']])]), CODE.internal],
    ['empty DATA', [headers(1, POST, 0), ...repeat(500, () => [content(1, '', 0)])], CODE.internal],
    [
      'CONTINUATION',
      [frame(FRAME.headers, 1, 1, block(GET)), ...repeat(50, () => [frame(FRAME.continuation, 0, 1)])],
      CODE.internal,
    ],
  ])('%s, and the next one is served', async (_what, octets, code) => {
    const upstream = await upstreamThat(({ socket }, head) => {
      if (!head.includes('POST')) socket.write(OK);
    });
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(...octets);
    const [end] = await Promise.all([endOf(client), servesOthers(gateway)]);
    expect(end).toBe(code);
    await waitFor(() => gateway.connections() === 1, { limitMs: 5000, what: 'the session to be gone' });
  });
});

describe('a client', () => {
  it('that resets request after request causes no more work upstream than it is allowed', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    for (let at = 0; at < 1000 && !client.isClosed; at++) {
      client.send(headers(id(at), GET));
      await waitFor(() => client.isClosed || upstream.connections.length > at, { limitMs: 5000, what: 'the request' });
      client.send(reset(id(at)));
    }
    expect(await endOf(client)).toBe(CODE.calm);
    expect(upstream.connections.length).toBeLessThan(400);
    await waitFor(() => upstream.open() === 0, { limitMs: 2000, what: 'the endpoint to be free' });
  });

  it('that makes the gateway reset its streams is not let go on for ever either', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    for (let at = 0; at < 1000 && !client.isClosed; at++) {
      client.send(headers(id(at), POST, 0));
      await waitFor(() => client.isClosed || upstream.connections.length > at, { limitMs: 5000, what: 'the request' });
      client.send(headers(id(at), [[':path', '/']]));
    }
    await client.untilClosed();
    expect(upstream.connections.length).toBeLessThan(400);
  });

  it('that leaves a page with a hundred requests keeps its session', async () => {
    const upstream = await upstreamThat(({ socket }, head) => {
      if (head.startsWith('GET')) socket.write(OK);
    });
    const gateway = await http2GatewayFor({ endpoints: [upstream.port] });
    const client = await rawSessionTo(gateway.port);
    client.send(...repeat(100, (at) => [headers(id(at), POST)]), ...repeat(100, (at) => [reset(id(at))]));
    client.send(headers(301, GET));
    expect(await client.fateOf(301)).toBe('status 200');
  });

  it('that makes a large head of few octets gets neither an answer nor memory', async () => {
    const gateway = await http2GatewayFor({ endpoints: [] });
    const client = await rawSessionTo(gateway.port);
    // A field that the table keeps (RFC 7541 section 6.2.1), and ten thousand references to it.
    const kept = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 'x')]);
    const bomb = Buffer.concat([block(GET), kept, Buffer.alloc(10_000, 0xbe)]);
    client.send(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, bomb));
    expect(await client.fateOf(1)).toBe(`reset ${CODE.calm}`);
  });

  it('whose content nobody takes sends no more than the window of each stream', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await http2GatewayFor({
      endpoints: [upstream.port],
      route: { concurrency: { max: 1, queue: 200, queueTimeout: '20s' } },
    });
    const client = await rawSessionTo(gateway.port);
    client.send(headers(1, GET));
    await waitFor(() => upstream.connections.length === 1, { limitMs: 1000, what: 'the request that takes the place' });
    const piece = frame(FRAME.data, 0, 0, Buffer.alloc(15_000));
    const upload = (stream: number) => {
      const octets = Buffer.from(piece);
      octets.writeUInt32BE(stream, 5);
      return octets;
    };
    client.send(...repeat(20, (at) => [headers(id(at + 1), POST, 0)]));
    client.send(...repeat(20 * 4, (at) => [upload(id(1 + (at % 20)))]), ping());
    await client.until(({ type }) => type === FRAME.ping);
    const given = client.frames.filter(({ type, streamId }) => type === FRAME.windowUpdate && streamId !== 0);
    const perStream = Map.groupBy(given, ({ streamId }) => streamId);
    for (const updates of perStream.values()) {
      const total = updates.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
      expect(total).toBeLessThanOrEqual(65_535);
    }
  });
});

// Requests that break off on their way to an HTTP/2 endpoint: it must never take what came of them for the whole.
import { describe, expect, it } from 'vitest';
import { CODE, FLAG, FRAME, type Frame, headers, reset } from '../../support/http2-frames.ts';
import { endHttp2AfterEach, sessionTo } from '../../support/http2-scene.ts';
import { RawClient } from '../../support/raw-client.ts';
import {
  endRawHttp2EndpointsAfterEach,
  type RawHttp2Endpoint,
  rawHttp2Endpoint,
} from '../../support/raw-http2-endpoint.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { send } from '../../support/send.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();
endRawHttp2EndpointsAfterEach();

const GRPC = { 'content-type': 'application/grpc', te: 'trailers' };
const LENGTH = { 'content-length': '1000' };
const UPLOADS = [
  ['gRPC', GRPC, 'Content-Type: application/grpc\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ['a known length', LENGTH, 'Content-Length: 1000\r\n\r\nhello'],
  ['no known length', {}, 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
] as const;

/** A gateway in front of an endpoint that answers nothing. */
async function scene(route: object = {}, gateway: Readonly<Record<string, unknown>> = {}) {
  const endpoint = await rawHttp2Endpoint(() => undefined);
  const { port } = await gatewayFor({
    endpoints: [endpoint.port],
    route: { protocol: 'h2c', ...route },
    listener: { http2: true },
    gateway,
  });
  return { endpoint, port };
}

/** Waits until the endpoint has got this much content. */
async function arrived({ frames }: RawHttp2Endpoint, octets: number): Promise<void> {
  const read = () => frames(FRAME.data).reduce((sum, { payload }) => sum + payload.length, 0);
  await waitFor(() => read() >= octets, { limitMs: 3000, what: 'the begin of the upload' });
}

/** The stream was reset with CANCEL, and nothing on it ever said that it is whole. */
async function expectCancelled({ frames, connections }: RawHttp2Endpoint): Promise<void> {
  await waitFor(() => frames(FRAME.reset).length > 0, { limitMs: 3000, what: 'the reset' });
  const hasEnd = ({ type, flags }: Frame) => type <= FRAME.headers && (flags & FLAG.endStream) !== 0;
  expect(frames(FRAME.reset).map(({ payload }) => payload.readUInt32BE())).toEqual([CODE.cancel]);
  expect(connections.flatMap((each) => each.frames.filter(hasEnd))).toEqual([]);
}

describe.each(UPLOADS)('an upload of %s', (_what, fields, http1) => {
  it('whose client resets its stream is reset, not ended', async () => {
    const { endpoint, port } = await scene();
    const stream = sessionTo(port).request({ ':path': '/up', ':method': 'POST', ...fields });
    stream.on('error', () => undefined);
    stream.write('hello');
    await arrived(endpoint, 5);
    stream.destroy(new Error('the client gives up'));
    await expectCancelled(endpoint);
  });

  it('whose client ends the connection of HTTP/1.1 is reset, not ended', async () => {
    const { endpoint, port } = await scene();
    const client = await RawClient.connect(port);
    client.send(`POST /up HTTP/1.1\r\nHost: s\r\n${http1}`);
    await arrived(endpoint, 5);
    client.close();
    await expectCancelled(endpoint);
  });

  it('that takes longer than the request may is reset, not ended', async () => {
    const { endpoint, port } = await scene({ timeout: { total: '300ms' } });
    const client = await RawClient.connect(port);
    client.send(`POST /up HTTP/1.1\r\nHost: s\r\n${http1}`);
    await arrived(endpoint, 5);
    await expectCancelled(endpoint);
    client.close();
  });
});

describe('an upload of no known length', () => {
  it('that turns out too large is reset, not ended', async () => {
    const { endpoint, port } = await scene({}, { limits: { body: '10B' } });
    const client = await RawClient.connect(port);
    client.send('POST /up HTTP/1.1\r\nHost: s\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n');
    client.send('5\r\nhello\r\n');
    await arrived(endpoint, 5);
    client.send('20\r\n01234567890123456789012345678901\r\n');
    await expectCancelled(endpoint);
    client.close();
  });

  it('that is answered before it is whole is reset, not ended', async () => {
    const endpoint = await rawHttp2Endpoint((connection, { type, streamId }) => {
      if (type === FRAME.data) connection.send(headers(streamId, [[':status', '204']]));
    });
    const { port } = await gatewayFor({ endpoints: [endpoint.port], route: { protocol: 'h2c' } });
    const client = await RawClient.connect(port);
    client.send('POST /up HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
    expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 204 /);
    await expectCancelled(endpoint);
    client.close();
  });
});

describe('a connection that tells streams to calm down', () => {
  it('is left: what comes next goes over another one', async () => {
    const endpoint = await rawHttp2Endpoint((connection, { type, streamId }) => {
      if (type !== FRAME.headers) return;
      const isFirst = connection === endpoint.connections[0];
      connection.send(isFirst ? reset(streamId, CODE.calm) : headers(streamId, [[':status', '204']]));
    });
    const route = { protocol: 'h2c', retry: { attempts: 1 } };
    const { port } = await gatewayFor({ endpoints: [endpoint.port], route });
    const url = `http://127.0.0.1:${port}/`;
    expect((await send(url, { method: 'POST', body: 'x' })).status).toBe(502);
    expect((await send(url, { method: 'POST', body: 'x' })).status).toBe(204);
    expect(
      endpoint.connections.map(({ frames }) => frames.filter(({ type }) => type === FRAME.headers).length),
    ).toEqual([1, 1]);
  });
});

// What the proxy tests share: gateways and upstreams that end with the test.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, expect } from 'vitest';
import { type RawConnection, type RawUpstream, startRawUpstream } from './raw-upstream.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts';
import { waitFor } from './wait-for.ts';

const running: { stop(): Promise<void> }[] = [];
const gateways: TestGateway[] = [];

/** Call once in a test file: ends everything after each test, and checks that nothing was left under way. */
export function endAfterEach(): void {
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) {
      await waitFor(() => gateway.endpoints().every(({ inFlight }) => inFlight === 0), {
        limitMs: 3000,
        what: 'no request to be in flight',
      });
    }
    for (const each of running.splice(0).reverse()) await each.stop();
    expect(running).toEqual([]);
  });
}

export async function gatewayFor(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  running.push(gateway);
  gateways.push(gateway);
  return gateway;
}

export async function upstreamThat(
  onHead: (connection: RawConnection, head: string) => void,
  port = 0,
): Promise<RawUpstream> {
  const upstream = await startRawUpstream(onHead, port);
  running.push(upstream);
  return upstream;
}

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly content: string;
  /** Names and values as they came, without those that differ from request to request. */
  readonly fields: readonly string[];
  readonly trailers: readonly string[];
}

export interface NodeUpstream {
  readonly port: number;
  /** What the service was asked, whole requests only. */
  readonly requests: RecordedRequest[];
}

/** A stock node:http service that answers every request with `ok`. */
export async function nodeUpstream(): Promise<NodeUpstream> {
  const requests: NodeUpstream['requests'] = [];
  const server = createServer((request, response) => {
    let content = '';
    request.setEncoding('latin1');
    request.on('data', (piece: string) => {
      content += piece;
    });
    request.on('end', () => {
      const { method = '', url = '', rawHeaders, rawTrailers } = request;
      const fields = rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)] !== 'X-Request-Id');
      requests.push({ method, url, content, fields, trailers: rawTrailers });
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push({
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  return { port: address.port, requests };
}

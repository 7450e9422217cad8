// What the proxy tests share: gateways and upstreams that end with the test.
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

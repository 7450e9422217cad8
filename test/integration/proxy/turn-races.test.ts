// What an endpoint does with a kept connection in the very turn in which the next request is given to it.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RawClient } from '../../support/raw-client.ts';
import type { RawConnection, RawUpstream } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

/** An endpoint that answers with the path, a gateway with one kept connection to it, and two clients. */
async function scene() {
  const upstream = await upstreamThat(({ socket }, head) => {
    const path = head.split(' ')[1] ?? '';
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
  });
  const gateway = await gatewayFor({ endpoints: [upstream.port] });
  const [one, other] = [await RawClient.connect(gateway.port), await RawClient.connect(gateway.port)];
  one.send('GET /first HTTP/1.1\r\nHost: s\r\n\r\n');
  await one.until('/first');
  await waitFor(() => gateway.endpoints().every(({ inFlight }) => inFlight === 0), { limitMs: 3000, what: 'quiet' });
  one.received = '';
  const [kept] = upstream.connections;
  if (kept === undefined) throw new Error('the gateway has no connection');
  return { upstream, gateway, one, other, kept };
}

function timesAsked({ connections }: RawUpstream, path: string): number[] {
  return connections.map(({ received }) => received.split(` ${path} HTTP`).length - 1);
}

/** Both are written in one turn, so that the gateway reads both in its next. */
async function atOnce(
  client: RawClient,
  request: string,
  { socket }: RawConnection,
  also: (own: typeof socket) => void,
) {
  await turn();
  client.send(request);
  also(socket);
}

describe('a kept connection, in the turn in which a request is given to it,', () => {
  it('on which an answer to nothing comes is left: nobody gets that answer, the client gets its own', async () => {
    const { upstream, one, other, kept } = await scene();
    await atOnce(one, 'GET /mine HTTP/1.1\r\nHost: s\r\n\r\n', kept, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray');
    });
    other.send('GET /theirs HTTP/1.1\r\nHost: s\r\n\r\n');
    await one.until('\r\n\r\n/mine');
    await other.until('\r\n\r\n/theirs');
    expect(one.received).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)+\r\n\/mine$/);
    expect(other.received).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)+\r\n\/theirs$/);
    expect(timesAsked(upstream, '/mine')[0]).toBe(0);
    expect(upstream.received()).not.toMatch(/ \/mine HTTP[\s\S]* \/mine HTTP/);
    one.close();
    other.close();
  });

  it.each([
    [
      'that closes is left, and a POST that had not gone out goes over another one',
      (own: RawConnection['socket']) => own.end(),
    ],
    [
      'that breaks is left, and a POST that had not gone out goes over another one',
      (own: RawConnection['socket']) => own.resetAndDestroy(),
    ],
  ])('%s', async (_what, end) => {
    const { upstream, gateway, one, other, kept } = await scene();
    await atOnce(one, 'POST /order HTTP/1.1\r\nHost: s\r\nContent-Length: 2\r\n\r\nhi', kept, end);
    expect(await one.until('/order')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(timesAsked(upstream, '/order')).toEqual([0, 1]);
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
    one.close();
    other.close();
  });
});

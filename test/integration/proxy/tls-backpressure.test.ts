// A TLS client that does not read its answers: what it has sent meanwhile waits, whole, until it does.
import { describe, expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { openTls } from '../../support/tls-client.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

/** As much as fills one TLS record. */
const RECORD_BYTES = 16_384;
/** More than the sockets on the way hold. */
const BODY = 'b'.repeat(8_000_000);
const SMALL = 'GET /small HTTP/1.1\r\nHost: s\r\n\r\n';

/** A request that fills a record to its last octet. */
function recordOf(path: string): string {
  const rest = RECORD_BYTES - `GET ${path} HTTP/1.1\r\nHost: s\r\nX-Pad: \r\n\r\n`.length;
  return `GET ${path} HTTP/1.1\r\nHost: s\r\nX-Pad: ${'p'.repeat(rest)}\r\n\r\n`;
}

describe.skipIf(!hasOpenssl())('a TLS client that does not read', () => {
  it('has the rest of its next request read when it does', async () => {
    await using own = new AsyncDisposableStack();
    const authority = own.adopt(createAuthority(), (each) => each.remove());
    const { certFile, keyFile } = authority.sign('front');
    const tls = { certificates: [{ cert: certFile, key: keyFile }] };
    const big = { match: [{ paths: ['/big'] }], fallback: { chain: [{ respond: { status: 200, body: BODY } }] } };
    const route = {
      match: [{ paths: ['/small'] }],
      fallback: { chain: [{ respond: { status: 200, body: 'small' } }] },
    };
    const gateway = await gatewayFor({ endpoints: [], listener: { tls }, route, otherRoutes: { big } });
    const client = await openTls({ port: gateway.port });
    let received = '';
    client.on('data', (piece: Buffer) => {
      received += piece.toString('latin1');
    });
    const answers = () => received.split('HTTP/1.1 200').length - 1;
    for (let at = 1; at <= 4; at++) {
      client.write(SMALL);
      await waitFor(() => answers() === at, { limitMs: 3000, what: `answer ${at}` });
    }
    client.pause();
    const [begun, rest] = [SMALL.slice(0, 10), SMALL.slice(10)];
    // Both records in one flight, so that they are there at once.
    client.write(recordOf('/big') + begun);
    await waitFor(() => gateway.records.some(({ path }) => path === '/big'), { limitMs: 3000, what: 'the big answer' });
    client.resume();
    client.write(rest);
    await waitFor(() => answers() === 6, { limitMs: 5000, what: 'the last answer' });
    expect(received.endsWith('small')).toBe(true);
    client.destroy();
  });
});

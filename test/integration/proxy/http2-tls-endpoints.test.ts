// HTTP/2 endpoints behind TLS: offered by ALPN, and their certificates checked.
import type { Server } from 'node:net';
import { createServer as createTlsServer, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { endHttp2EndpointsAfterEach, http2Endpoint } from '../../support/http2-endpoint.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { send } from '../../support/send.ts';

endAfterEach();
endHttp2EndpointsAfterEach();

describe.skipIf(!hasOpenssl())('an HTTP/2 endpoint behind TLS', () => {
  let authority: Authority;

  beforeAll(() => {
    authority = createAuthority();
    setDefaultCACertificates([authority.ca]);
  });
  afterAll(() => authority.remove());

  it('is spoken to over one connection, its certificate checked', async () => {
    const pair = authority.sign('good');
    const endpoint = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }), { pair });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: { protocol: 'h2' } });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => send(`http://127.0.0.1:${gateway.port}/`)));
    expect(answers.every(({ status }) => status === 204)).toBe(true);
    expect(endpoint.sessions).toHaveLength(1);
    expect(endpoint.sessions[0]?.alpnProtocol).toBe('h2');
    expect(endpoint.requests[0]).toMatchObject({ ':scheme': 'https' });
  });

  it('whose certificate is not to be trusted gets nothing', async () => {
    const pair = authority.sign('stranger');
    const endpoint = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }), { pair });
    const route = { protocol: 'h2', rewrite: { host: 'other.example' } };
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`);
    expect(answer.status).toBe(502);
    expect(answer.headers['proxy-status']).toContain('tls_certificate_error');
    expect(endpoint.requests).toEqual([]);
  });

  it.each([
    ['refuses to speak it', ['http/1.1']],
    ['says nothing of what it speaks', undefined],
  ])('that %s is tls_protocol_error', async (_what, ALPNProtocols) => {
    const { cert, key } = authority.sign('old');
    const server = createTlsServer({ cert, key, ...(ALPNProtocols === undefined ? {} : { ALPNProtocols }) });
    server.on('secureConnection', (socket) => socket.on('error', () => undefined));
    server.on('tlsClientError', () => undefined);
    const port = await listen(server);
    const gateway = await gatewayFor({ endpoints: [port], route: { protocol: 'h2' } });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`);
    expect(answer.status).toBe(502);
    expect(answer.headers['proxy-status']).toContain('tls_protocol_error');
    server.close();
  });
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

// Endpoints that speak TLS: trusted by an authority of the operator's, or refused for what their certificate is.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { startHttpServer } from '../support/local-server.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

describe.skipIf(!hasOpenssl())('a route with protocol: https', () => {
  const owned = new AsyncDisposableStack();
  const received: string[] = [];
  let weir: WeirProcess;

  beforeAll(async () => {
    const [trusted, stranger] = [createAuthority(), createAuthority()];
    owned.defer(() => trusted.remove());
    owned.defer(() => stranger.remove());
    const [good, bad] = [await startTls(trusted.sign('good')), await startTls(stranger.sign('bad'))];
    const plain = owned.adopt(await startHttpServer((_request, response) => response.end('plain')), (each) =>
      each.stop(),
    );
    const route = (path: string, port: number) => ({
      service: path,
      protocol: 'https',
      endpoints: [`127.0.0.1:${port}`],
      match: [{ paths: [`/${path}*`] }],
    });
    const before = process.env.NODE_EXTRA_CA_CERTS;
    process.env.NODE_EXTRA_CA_CERTS = trusted.caFile;
    try {
      const routes = { good: route('good', good), bad: route('bad', bad), plain: route('plain', plain.port) };
      weir = owned.adopt(await startWeir({ routes }), (gateway) => gateway.close());
    } finally {
      if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
      else process.env.NODE_EXTRA_CA_CERTS = before;
    }
  });
  afterAll(() => owned.disposeAsync());

  async function startTls(pair: { cert: string; key: string }): Promise<number> {
    const server = createServer(pair, (request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => received.push(text));
      request.on('end', () => response.end(`secure ${request.method} ${request.url}`));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    owned.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  it('carries requests and their content, and keeps the connection', async () => {
    for (let at = 0; at < 5; at++) {
      expect(await weir.get(`/good?${at}`)).toMatchObject({ status: 200, body: `secure GET /good?${at}` });
    }
    const content = 'x'.repeat(200_000);
    expect(await weir.get('/good', { method: 'POST', body: content })).toMatchObject({ status: 200 });
    expect(received.join('')).toBe(content);
  });

  it.each([
    ['a certificate that nobody known has signed', '/bad', 'tls_certificate_error'],
    ['an endpoint that does not speak TLS', '/plain', 'tls_protocol_error'],
  ])('answers 502 for %s', async (_what, path, error) => {
    const answer = await weir.get(path);
    expect(answer.status).toBe(502);
    expect(answer.headers['proxy-status']).toBe(`weir; error=${error}`);
  });
});

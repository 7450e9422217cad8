// `weir/client` and TLS to the endpoints: the certificate is that of the service, wherever it runs.

import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority, hasOpenssl } from '../support/certificates.ts';
import { dispatcherFor, endClientsAfterEach, serviceNamed } from '../support/client-scene.ts';

describe.skipIf(!hasOpenssl())('with protocol https', () => {
  const trustedBefore = getCACertificates('default');
  let authority: Authority;
  let server: Server;
  let port = 0;

  beforeAll(async () => {
    authority = createAuthority();
    setDefaultCACertificates([...trustedBefore, authority.ca]);
    // Its certificate is for localhost.
    const { cert, key } = authority.sign('server');
    server = createServer({ cert, key }, (incoming, response) => {
      const name = 'servername' in incoming.socket ? incoming.socket.servername : undefined;
      response.end(`${name} ${incoming.headers.host}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') port = address.port;
  });
  endClientsAfterEach();
  afterAll(() => {
    setDefaultCACertificates(trustedBefore);
    server.closeAllConnections();
    server.close();
    authority.remove();
  });

  const dispatcherOf = (service: string, endpoint = port) => {
    const endpoints = [`127.0.0.1:${endpoint}`];
    return dispatcherFor({ services: { [service]: { protocol: 'https', endpoints, retry: { attempts: 1 } } } });
  };

  it('asks for the name of the service, and its certificate must be for that', async () => {
    const dispatcher = dispatcherOf('localhost');
    expect(await (await fetch('https://localhost/', { dispatcher })).text()).toBe('localhost localhost');
    const other = dispatcherOf('order-service');
    await expect(request('https://order-service/', { dispatcher: other })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(other.upstreams()[0]?.endpoints[0]).toMatchObject({ failures: 1 });
  });

  it('trusts no certificate of an authority that it does not know', async () => {
    setDefaultCACertificates(trustedBefore);
    const dispatcher = dispatcherOf('localhost');
    await expect(request('https://localhost/', { dispatcher })).rejects.toMatchObject({
      code: expect.stringMatching(/CERT|VERIFY/),
    });
    setDefaultCACertificates([...trustedBefore, authority.ca]);
  });

  it('takes an endpoint that does not speak TLS for a failure, and never speaks plainly', async () => {
    const plain = await serviceNamed('plain');
    const dispatcher = dispatcherOf('localhost', plain.port);
    await expect(request('https://localhost/', { dispatcher })).rejects.toThrow();
    await expect(request('http://localhost/', { dispatcher })).rejects.toMatchObject({ code: 'WEIR_BAD_ADDRESS' });
    expect(plain.requests).toEqual([]);
  });
});

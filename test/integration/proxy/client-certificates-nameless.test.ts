// Certificates of clients that have no subject: SPIFFE identities stand in the subjectAltName alone.
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../../support/certificates.ts';
import { ask, endHttp2AfterEach } from '../../support/http2-scene.ts';
import { endAfterEach, gatewayFor, nodeUpstream } from '../../support/scene.ts';
import { askTls, openTls } from '../../support/tls-client.ts';

describe.skipIf(!hasOpenssl())('a client whose certificate has no subject', () => {
  endAfterEach();
  endHttp2AfterEach();
  let authority: Authority;
  let own: SignedPair;
  let nameless: SignedPair;

  beforeAll(() => {
    authority = createAuthority();
    own = authority.sign('own');
    nameless = authority.sign('nameless', { subject: '/', names: ['URI:spiffe://shop.example/orders'] });
  });
  afterAll(() => authority.remove());

  async function scene() {
    const service = await nodeUpstream();
    const tls = {
      certificates: [{ cert: own.certFile, key: own.keyFile }],
      clientCertificates: 'require',
      clientCa: authority.caFile,
    };
    const { port } = await gatewayFor({ endpoints: [service.port], listener: { tls } });
    const told = () => {
      const { fields } = service.requests.at(-1) ?? { fields: [] };
      const toldIn = (name: string) => fields[fields.findIndex((each) => each.toLowerCase() === name) + 1];
      return [toldIn('client-cert'), toldIn('x-client-cert-subject')];
    };
    return { port, told };
  }

  const identity = () => [`:${new X509Certificate(nameless.cert).raw.toString('base64')}:`, ''];

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is served in %s, and told to the service with an empty subject',
    async (maxVersion) => {
      const { port, told } = await scene();
      const { cert, key } = nameless;
      expect((await askTls({ port, maxVersion, cert, key })).text).toMatch(/^HTTP\/1\.1 200 /);
      expect(told()).toEqual(identity());
    },
  );

  it('is served in HTTP/2 as well', async () => {
    const { port, told } = await scene();
    const { cert, key } = nameless;
    const socket = await openTls({ port, cert, key, ALPNProtocols: ['h2'] });
    const session = connect(`https://localhost:${port}`, { createConnection: () => socket });
    expect((await ask(session, { ':path': '/' })).status).toBe(200);
    expect(told()).toEqual(identity());
    session.destroy();
  });
});

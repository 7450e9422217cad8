// Certificates of clients: who is let in, what services are told, and that nobody else can say it.
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HANDSHAKE_FAILURES } from '../../../gateway/shared/tls-cell.ts';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../../support/certificates.ts';
import { exchange } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, nodeUpstream } from '../../support/scene.ts';
import { askTls, failureOf } from '../../support/tls-client.ts';
import { waitFor } from '../../support/wait-for.ts';

const FORGED = [
  'Client-Cert: :Zm9yZ2Vk:',
  'X-Client-Cert-Subject: CN=forged',
  'x_client_cert_fingerprint: forged',
  'Client-Cert-Chain: :eA==:',
];
const ASK = `GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n${FORGED.join('\r\n')}\r\n\r\n`;

describe.skipIf(!hasOpenssl())('certificates of clients', () => {
  endAfterEach();
  let authority: Authority;
  let stranger: Authority;
  let own: SignedPair;
  let known: SignedPair;
  let unknown: SignedPair;

  beforeAll(() => {
    authority = createAuthority();
    stranger = createAuthority();
    own = authority.sign('own');
    known = authority.sign('known', { subject: '/C=DE/O=Acme, Inc./CN=Zoë' });
    unknown = stranger.sign('unknown');
  });
  afterAll(() => {
    authority.remove();
    stranger.remove();
  });

  async function gatewayThat(clientCertificates: string, options: { trusted?: boolean; ticketKeys?: Uint8Array } = {}) {
    const service = await nodeUpstream();
    const tls = {
      certificates: [{ cert: own.certFile, key: own.keyFile }],
      clientCertificates,
      ...(clientCertificates !== 'off' && { clientCa: authority.caFile }),
    };
    const gateway = await gatewayFor({
      endpoints: [service.port],
      listener: { tls },
      gateway: options.trusted ? { trustedProxies: ['127.0.0.1'] } : {},
      ...(options.ticketKeys !== undefined && { ticketKeys: options.ticketKeys }),
    });
    return { gateway, service, port: gateway.port };
  }

  /** The fields about certificates that the service got, by lower-case name. */
  function told({ requests }: Awaited<ReturnType<typeof nodeUpstream>>): Record<string, string> {
    const { fields } = requests.at(-1) ?? { fields: [] };
    const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), fields[at + 1] ?? '']] : []));
    return Object.fromEntries(pairs.filter(([name = '']) => /client.cert/.test(name)));
  }

  const identity = () => {
    const { raw } = new X509Certificate(known.cert);
    return {
      'client-cert': `:${raw.toString('base64')}:`,
      'x-client-cert-subject': 'CN=Zo\\C3\\AB,O=Acme\\, Inc.,C=DE',
      'x-client-cert-fingerprint': createHash('sha256').update(raw).digest('hex'),
    };
  };

  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('in %s', (maxVersion) => {
    it.each([
      ['off', 'none', 'nothing'],
      ['off', 'known', 'nothing'],
      ['request', 'none', 'nothing'],
      ['request', 'unknown', 'nothing'],
      ['request', 'known', 'identity'],
      ['require', 'known', 'identity'],
    ])('%s lets a client with %s in, and tells the service %s whatever the client says', async (mode, who, what) => {
      const { port, service } = await gatewayThat(mode);
      const pair = who === 'none' ? {} : who === 'known' ? known : unknown;
      const { text } = await askTls({ port, maxVersion, send: ASK, ...pick(pair) });
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
      expect(told(service)).toEqual(what === 'identity' ? identity() : {});
    });

    it.each([
      ['none', {}],
      ['one that nobody known has signed', 'unknown'],
    ])('require refuses a client with %s', async (_what, who) => {
      const { port, service, gateway } = await gatewayThat('require');
      expect(await failureOf({ port, maxVersion, ...(who === 'unknown' ? pick(unknown) : {}) })).not.toMatch(
        /^answered H/,
      );
      expect(service.requests).toEqual([]);
      await waitFor(() => gateway.handshakes.failures('client_certificate') === 1, {
        limitMs: 2000,
        what: 'the failure to be counted',
      });
      expect(
        HANDSHAKE_FAILURES.map((reason) => gateway.handshakes.failures(reason)).filter((count) => count > 0),
      ).toEqual([1]);
    });

    it('is still known when the session is resumed', async () => {
      const { port, service } = await gatewayThat('require');
      const { session } = await askTls({ port, maxVersion, send: ASK, ...pick(known) });
      const again = await askTls({ port, maxVersion, send: ASK, session });
      expect([again.isResumed, told(service)]).toEqual([true, identity()]);
    });

    it('is not spared by a session that began at a listener that asks for none', async () => {
      const ticketKeys = randomBytes(48);
      const [open, closed] = [await gatewayThat('off', { ticketKeys }), await gatewayThat('require', { ticketKeys })];
      const { session } = await askTls({ port: open.port, maxVersion });
      expect(await failureOf({ port: closed.port, maxVersion, session })).not.toMatch(/^answered/);
      expect(closed.service.requests).toEqual([]);
    });
  });

  it('are told by a trusted proxy where the listener asks for none, and by nobody but the certificate where it does', async () => {
    const passing = await gatewayThat('off', { trusted: true });
    await askTls({ port: passing.port, send: ASK });
    expect(told(passing.service)).toMatchObject({ 'client-cert': ':Zm9yZ2Vk:', 'x-client-cert-subject': 'CN=forged' });
    const asking = await gatewayThat('request', { trusted: true });
    await askTls({ port: asking.port, send: ASK, ...pick(known) });
    expect(told(asking.service)).toEqual(identity());
    await askTls({ port: asking.port, send: ASK });
    expect(told(asking.service)).toEqual({});
  });

  it('are told by nobody at a listener without tls', async () => {
    const service = await nodeUpstream();
    const { port } = await gatewayFor({ endpoints: [service.port] });
    expect(await exchange(port, ASK)).toMatch(/^HTTP\/1\.1 200 /);
    expect(told(service)).toEqual({});
  });
});

function pick(pair: { readonly cert?: string; readonly key?: string }): { cert?: string; key?: string } {
  const { cert, key } = pair;
  return cert === undefined || key === undefined ? {} : { cert, key };
}

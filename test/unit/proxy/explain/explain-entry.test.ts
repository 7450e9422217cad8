import { describe, expect, it } from 'vitest';
import type { CertificateFacts } from '../../../../gateway/proxy/explain/explain-entry.ts';
import { explanationText } from '../../../../gateway/proxy/explain/explanation-text.ts';
import { endpoint } from '../../../support/endpoints.ts';
import { ExplainScene } from './explain-scene.ts';

const TLS = { certificates: [{ cert: 'shop.pem', key: 'shop.key' }] };
const PLAIN = { address: '0.0.0.0:8080' };
const SECURE = { address: '0.0.0.0:8443', tls: TLS };
const REDIRECTING = { address: '0.0.0.0:8081', redirect: 'https' };

function certificate(file: string, names: readonly string[], keyType = 'ec'): CertificateFacts {
  return { files: { cert: file, key: '', ocsp: '' }, names, keyType, notAfterMs: Date.UTC(2027, 0, 2) };
}

const CERTIFICATES = [
  certificate('shop.pem', ['shop.test']),
  certificate('wild.pem', ['*.shop.test', 'www.shop.test']),
];

function sceneOf(listen: readonly object[], routes: Readonly<Record<string, object>> = { r: { service: 's' } }) {
  const parts = { routes, pools: { s: [endpoint(1)] }, gateway: { listen } };
  return new ExplainScene({ ...parts, certificates: CERTIFICATES });
}

function addressesOf(listen: readonly object[], url: string, headers: readonly string[] = []): string[] {
  return sceneOf(listen)
    .explain({ url, headers })
    .entry.listeners.map(({ address }) => address);
}

function shownFor(url: string) {
  const { entry } = sceneOf([SECURE]).explain({ url });
  const [listener] = entry.listeners;
  return [listener?.tls?.certificates.map(({ file }) => file), listener?.tls?.isByName, entry.serverName];
}

describe('the listeners at which a request can come in', () => {
  it('are those of the scheme of the URL', () => {
    expect(addressesOf([PLAIN, SECURE], 'http://shop.test/')).toEqual(['0.0.0.0:8080']);
    expect(addressesOf([PLAIN, SECURE], 'HTTPS://shop.test/')).toEqual(['0.0.0.0:8443']);
  });

  it('are all for a path alone, which does not say by which scheme it comes', () => {
    const addresses = addressesOf([PLAIN, SECURE], '/', ['Host: shop.test']);
    expect(addresses).toEqual(['0.0.0.0:8080', '0.0.0.0:8443']);
  });

  it('are those of the port of the URL, where a listener has it', () => {
    const other = { ...SECURE, address: '0.0.0.0:443' };
    expect(addressesOf([SECURE, other], 'https://shop.test:8443/')).toEqual(['0.0.0.0:8443']);
    expect(addressesOf([SECURE, other], 'https://shop.test/')).toEqual(['0.0.0.0:443']);
    expect(addressesOf([SECURE, other], 'https://[2001:db8::1]:8443/')).toEqual(['0.0.0.0:8443']);
    expect(addressesOf([SECURE, other], 'https://shop.test:9443/')).toEqual(['0.0.0.0:8443', '0.0.0.0:443']);
  });

  it('are none where no listener speaks the scheme, and the route is told all the same', () => {
    const explanation = sceneOf([PLAIN]).explain({ url: 'https://shop.test/' });
    expect(explanation.entry.listeners).toEqual([]);
    expect(explanation.route?.name).toBe('r');
    expect(explanationText(explanation)).toContain('listener     none speaks TLS\n');
  });
});

describe('the certificate that a client is shown', () => {
  it('is chosen by the host of the URL: exactly, then by its wildcard, then the first', () => {
    expect(shownFor('https://shop.test/')).toEqual([['shop.pem'], true, 'shop.test']);
    expect(shownFor('https://SHOP.test./')).toEqual([['shop.pem'], true, 'SHOP.test.']);
    expect(shownFor('https://a.shop.test/')).toEqual([['wild.pem'], true, 'a.shop.test']);
    expect(shownFor('https://other.test/')).toEqual([['shop.pem'], false, 'other.test']);
  });

  it('is the first for an IP address, for which clients ask by no name', () => {
    expect(shownFor('https://192.0.2.1:8443/')).toEqual([['shop.pem'], false, '']);
    expect(shownFor('https://[2001:db8::1]/')).toEqual([['shop.pem'], false, '']);
  });

  it('is chosen by the URL and not by a Host field beside it', () => {
    const { entry, request } = sceneOf([SECURE]).explain({ url: 'https://a.shop.test/', headers: ['Host: shop.test'] });
    expect([entry.serverName, request.host]).toEqual(['a.shop.test', 'shop.test']);
  });
});

describe('a listener that redirects', () => {
  it('answers what can only come in there, before any route is looked for', () => {
    const { outcome, route, summary } = sceneOf([REDIRECTING, SECURE]).explain({ url: 'http://shop.test/orders?x=1' });
    const why = 'the listener sends it to https://shop.test/orders?x=1';
    expect(outcome).toEqual({ kind: 'answer', status: 308, why });
    expect(route).toBeNull();
    expect(summary).toBe(`GET shop.test/orders?x=1 is answered 308 by Weir itself: ${why}`);
  });

  it('names the port that clients shall use, in place of the one that they came by', () => {
    const listen = [{ address: '0.0.0.0:80', redirect: { to: 'https', port: 8443 } }, SECURE];
    const { outcome } = sceneOf(listen).explain({ url: 'http://shop.test:80/' });
    expect(outcome).toMatchObject({ status: 308, why: 'the listener sends it to https://shop.test:8443/' });
  });

  it.each([
    ['another listener takes it', [REDIRECTING, PLAIN, SECURE], 'http://shop.test/', []],
    ['it is an ACME challenge', [REDIRECTING], 'http://shop.test/.well-known/acme-challenge/x', []],
    ['it comes by TLS', [REDIRECTING, SECURE], 'https://shop.test/', []],
    ['nobody said by what it comes', [REDIRECTING], '/', ['Host: shop.test']],
  ])('leaves it to the routes where %s', (_when, listen, url, headers) => {
    expect(sceneOf(listen).explain({ url, headers }).outcome).toMatchObject({ kind: 'endpoint' });
  });
});

describe('a path that some services read as a guarded one', () => {
  const routes = {
    admin: { service: 's', match: [{ paths: ['/admin', '/admin/*'] }], allow: ['10.0.0.0/8'] },
    web: { service: 's' },
  };

  it.each(['//admin', '/x/..;/admin', '/%2fadmin', '/admin;a/b'])('is 400 for %s, as at the door', (path) => {
    const { outcome } = sceneOf([PLAIN], routes).explain({ url: `http://shop.test${path}` });
    const why = 'some services read its path as one that the route admin guards';
    expect(outcome).toEqual({ kind: 'answer', status: 400, why });
  });

  it('goes its way where the route that it has is the one that guards', () => {
    const { route } = sceneOf([PLAIN], routes).explain({ url: 'http://shop.test/admin//x' });
    expect(route?.name).toBe('admin');
  });
});

describe('listeners as text', () => {
  it('tell versions, certificate, demands and the PROXY header', () => {
    const tls = { ...TLS, clientCertificates: 'require', clientCa: 'ca.pem', minVersion: '1.3' };
    const secure = { address: '[::]:8443', tls, hsts: '8760h', proxyProtocol: ['10.0.0.0/8'] };
    const text = explanationText(sceneOf([secure]).explain({ url: 'https://a.shop.test/' }));
    expect(text).toContain(
      [
        'listener     [::]:8443  TLS 1.3, HTTP/1.1 or HTTP/2',
        '               shows wild.pem: *.shop.test, www.shop.test, ec, until 2027-01-02T00:00:00.000Z (for a.shop.test)',
        '               demands a certificate of the client',
        '               Strict-Transport-Security: max-age=31536000',
        '               connections from 10.0.0.0/8 begin with a PROXY header',
        '',
      ].join('\n'),
    );
  });

  it('tell where one redirects and another does not', () => {
    const text = explanationText(sceneOf([REDIRECTING, PLAIN]).explain({ url: 'http://shop.test/x' }));
    expect(text).toContain(
      [
        'listener     0.0.0.0:8081  plain HTTP/1.1',
        '               sends it with 308 to https://shop.test/x',
        '             0.0.0.0:8080  plain HTTP/1.1',
        '',
      ].join('\n'),
    );
  });

  it('say that certificates cannot be used', () => {
    const scene = new ExplainScene({ routes: { r: { service: 's' } }, gateway: { listen: [SECURE] } });
    const text = explanationText(scene.explain({ url: 'https://shop.test/' }));
    expect(text).toContain('\n               its certificates cannot be used\n');
  });
});

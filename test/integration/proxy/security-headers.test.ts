// Security headers of a route: on its service's answers, on those of the fallback, and on Weir's own.
import { describe, expect, it } from 'vitest';
import { fetchOctets } from '../../support/encoded-answer.ts';
import { exchange, get } from '../../support/raw-client.ts';
import { answering } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

endAfterEach();

const STRICT = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  'referrer-policy': 'no-referrer',
  'permissions-policy': expect.stringContaining('camera=()'),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
const strict = { securityHeaders: 'strict' };

describe('with security headers', () => {
  it('an answer of the service has them, and does not tell what the service is made of', async () => {
    const fields = 'Server: own/1\r\nX-Powered-By: own\r\nX-Own: 1\r\nContent-Length: 2\r\n';
    const upstream = await upstreamThat(answering(`HTTP/1.1 200 OK\r\n${fields}\r\nok`));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: strict });
    const { headers } = await fetchOctets(gateway.port);
    expect(headers).toMatchObject({ ...STRICT, 'x-own': '1' });
    expect(headers).not.toHaveProperty('server');
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it('what the service says itself stays, once', async () => {
    const fields = 'x-frame-options: SAMEORIGIN\r\nReferrer-Policy: origin\r\nContent-Length: 2\r\n';
    const upstream = await upstreamThat(answering(`HTTP/1.1 200 OK\r\n${fields}\r\nok`));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: strict });
    const answer = await exchange(gateway.port, get('/'));
    expect(answer).toContain('x-frame-options: SAMEORIGIN\r\nReferrer-Policy: origin\r\n');
    expect(answer.match(/^x-frame-options:/gim)).toHaveLength(1);
    expect(answer.match(/^referrer-policy:/gim)).toHaveLength(1);
    expect(answer).not.toMatch(/^content-security-policy:/im);
  });

  it('what the route sets itself stays, once', async () => {
    const upstream = await upstreamThat(answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const rewrite = { responseHeaders: { set: { 'X-Frame-Options': 'SAMEORIGIN', Server: 'shop' } } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { ...strict, rewrite } });
    const answer = await exchange(gateway.port, get('/'));
    expect(answer.match(/^(?:x-frame-options|server):.*$/gim)).toEqual(['X-Frame-Options: SAMEORIGIN', 'Server: shop']);
  });

  it.each([
    ['has no endpoint', {}, 503],
    ['lets nobody in', { deny: ['0.0.0.0/0'] }, 403],
    ['answers by its fallback', { fallback: { chain: [{ respond: { status: 503, body: 'later' } }] } }, 503],
    ['cannot rewrite the path', { rewrite: { stripPrefix: '/other' } }, 400],
  ])('an answer of Weir for a route that %s has them', async (_what, route, status) => {
    const gateway = await gatewayFor({ endpoints: [], route: { ...strict, ...route } });
    expect(await fetchOctets(gateway.port, { path: '/x' })).toMatchObject({ status, headers: STRICT });
  });

  it('a preset less strict allows frames of the same origin', async () => {
    const upstream = await upstreamThat(answering('HTTP/1.1 200 OK\r\nServer: own\r\nContent-Length: 2\r\n\r\nok'));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { securityHeaders: 'basic' } });
    const { headers } = await fetchOctets(gateway.port);
    expect(headers).toMatchObject({ 'x-frame-options': 'SAMEORIGIN', server: 'own' });
    expect(headers).not.toHaveProperty('content-security-policy');
  });

  it('other routes have none', async () => {
    const upstream = await upstreamThat(answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const gateway = await gatewayFor({
      endpoints: [upstream.port],
      route: { match: [{ paths: ['/other'] }] },
      otherRoutes: { strict: { ...strict, match: [{ paths: ['/strict'] }] } },
    });
    expect((await fetchOctets(gateway.port, { path: '/other' })).headers).not.toHaveProperty('x-frame-options');
    expect((await fetchOctets(gateway.port, { path: '/strict' })).headers).toMatchObject(STRICT);
  });
});

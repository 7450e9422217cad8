// etcd over TLS: an authority of one's own and a client certificate, for ranges, watches and the login.
import { connect } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../gateway/core/clock.ts';
import { createEtcdSource } from '../../gateway/discovery/etcd.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import type { TlsFiles } from '../../gateway/discovery/tls-connector.ts';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../support/certificates.ts';
import { hasEtcd, type RealEtcd, startEtcd } from '../support/real-etcd.ts';
import { recordWatch } from '../support/record-events.ts';
import { waitFor } from '../support/wait-for.ts';

describe.skipIf(!hasOpenssl() || !hasEtcd())('etcd over TLS', () => {
  let authority: Authority;
  let client: SignedPair;
  let etcd: RealEtcd;
  let door: Server;
  const open = new Set<TLSSocket>();
  const sources: DiscoverySource[] = [];

  beforeAll(async () => {
    authority = createAuthority();
    client = authority.sign('client');
    etcd = await startEtcd();
    const { cert, key } = authority.sign('etcd');
    // etcd's own TLS is this: the same bytes behind a handshake that asks for a certificate.
    door = createServer({ cert, key, ca: authority.ca, requestCert: true, rejectUnauthorized: true }, (socket) => {
      open.add(socket);
      const inner = connect(Number(new URL(etcd.url).port), '127.0.0.1');
      socket.on('error', () => inner.destroy()).on('close', () => open.delete(socket));
      inner.on('error', () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  }, 30_000);
  afterEach(async () => {
    await Promise.all(sources.splice(0).map((source) => source.stop()));
  });
  afterAll(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => door.close(resolve));
    await etcd.close();
    authority.remove();
  });

  function watch(service: string, tls: Partial<TlsFiles> = {}) {
    const address = door.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const source = createEtcdSource({
      endpoints: [`https://127.0.0.1:${port}`],
      prefix: '/services/',
      username: '',
      password: '',
      tls: { ca: authority.caFile, cert: client.certFile, key: client.keyFile, ...tls },
      confirmEmptyMs: 200,
      clock: systemClock,
    });
    sources.push(source);
    return recordWatch(source, service);
  }

  it('is asked, and watched, with the client certificate of the configuration', async () => {
    await etcd.put('/services/web/1', { host: '127.0.0.1', port: 1 });
    const web = watch('web');
    await web.ports([1]);
    await etcd.put('/services/web/2', { host: '127.0.0.1', port: 2 });
    await web.ports([1, 2]);
    expect(web.failures).toEqual([]);
  });

  it.each([
    ['the authority is not known', { ca: '' }],
    ['the client certificate is missing', { cert: '', key: '' }],
  ])('gives no answer where %s', async (_why, tls) => {
    const web = watch('web', tls);
    await waitFor(() => web.failures.length > 0, { limitMs: 10_000, what: 'a failure' });
    expect(web.answers).toEqual([]);
  });
});

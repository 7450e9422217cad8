// The certificates that the supervisor holds: what it keeps when files break, what it warns of, when keys of tickets change.
import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type GatewayConfig, gatewaySchema } from '../../gateway/config/gateway-schema.ts';
import { systemClock } from '../../gateway/core/clock.ts';
import { ListenerCertificates } from '../../gateway/listener-certificates.ts';
import { type ListenerMaterial, materialKey, type TlsInForce } from '../../gateway/tls/served-certificate.ts';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../support/certificates.ts';

const HOUR_MS = 3_600_000;

describe.skipIf(!hasOpenssl())('the certificates of listeners', () => {
  let authority: Authority;
  let one: SignedPair;
  let two: SignedPair;
  let listen: GatewayConfig['listen'];
  let log: string[];
  let told: TlsInForce[];
  let certificates: ListenerCertificates;

  beforeEach(() => {
    authority = createAuthority();
    one = authority.sign('one', { days: 100 });
    two = authority.sign('two', { days: 100 });
    listen = listenWith(one, two);
    log = [];
    told = [];
    const write = (fields: object, message: string) => void log.push(`${message} ${JSON.stringify(fields)}`);
    certificates = new ListenerCertificates({
      clock: systemClock,
      log: { debug: write, info: write, warn: write, error: write },
      onChange: (inForce) => told.push(inForce),
    });
  });
  afterEach(() => {
    certificates.stop();
    vi.useRealTimers();
    authority.remove();
  });

  function listenWith(...pairs: SignedPair[]): GatewayConfig['listen'] {
    const files = pairs.map(({ certFile, keyFile }) => ({ cert: certFile, key: keyFile }));
    return gatewaySchema.parse({ listen: [{ address: 'a:443', tls: { certificates: files } }] }).listen;
  }

  function tlsOf([listener]: GatewayConfig['listen']) {
    const tls = listener?.tls ?? null;
    if (tls === null) throw new Error('no tls');
    return tls;
  }

  const served = (): ListenerMaterial | undefined => certificates.inForce.materials.get(materialKey(tlsOf(listen)));
  const pems = () => (served()?.certificates ?? []).map(({ cert }) => cert.trim());
  const logged = (message: string) => log.filter((line) => line.startsWith(message));

  it('replaces one pair, and keeps the last good version of another that is broken', async () => {
    await certificates.start(listen);
    const fresh = authority.sign('fresh', { days: 100 });
    writeFileSync(one.certFile, fresh.cert);
    writeFileSync(one.keyFile, fresh.key);
    rmSync(two.keyFile);
    await certificates.refresh();
    expect(pems()).toEqual([fresh.cert.trim(), two.cert.trim()]);
    expect(told).toHaveLength(1);
    expect(certificates.count('broken')).toBe(1);
    expect(certificates.stateOf(tlsOf(listen)).map(({ problem }) => problem)).toEqual([
      null,
      expect.stringContaining(`${two.keyFile}: the file cannot be read (ENOENT)`),
    ]);
    await certificates.refresh();
    expect(logged('certificate file cannot be used')).toHaveLength(1);
    expect(told).toHaveLength(1);
    writeFileSync(two.keyFile, two.key);
    await certificates.refresh();
    expect(certificates.count('unchanged')).toBe(1);
    expect(certificates.stateOf(tlsOf(listen)).map(({ problem }) => problem)).toEqual([null, null]);
  });

  it('takes nothing of a certificate and a key that do not go together', async () => {
    await certificates.start(listen);
    writeFileSync(one.certFile, authority.sign('fresh').cert);
    await certificates.refresh();
    expect(pems()[0]).toBe(one.cert.trim());
    expect(logged('certificate file cannot be used')).toEqual([
      expect.stringContaining('not the key of the certificate'),
    ]);
  });

  it('refuses listeners that would have no certificate, and keeps what it has', async () => {
    await certificates.start(listen);
    rmSync(two.certFile);
    const other = gatewaySchema.parse({ listen: [{ address: 'a:443', tls: { certificates: '/nowhere' } }] }).listen;
    await expect(certificates.replace(other)).rejects.toThrow('/nowhere: the folder cannot be read (ENOENT)');
    expect(pems()).toHaveLength(2);
  });

  it('serves a certificate that has expired, and warns of it, at once and every day', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    listen = listenWith(authority.sign('old', { days: -1 }), authority.sign('soon', { days: 13 }), one);
    await certificates.start(listen);
    expect(pems()).toHaveLength(3);
    const warnings = () => [logged('certificate has expired').length, logged('certificate expires soon').length];
    expect(warnings()).toEqual([1, 1]);
    await certificates.refresh();
    expect(warnings()).toEqual([1, 1]);
    vi.advanceTimersByTime(24 * HOUR_MS);
    expect(warnings()).toEqual([2, 2]);
  });

  it('seals tickets with other keys every twelve hours', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await certificates.start(listen);
    const { ticketKeys } = certificates.inForce;
    expect(ticketKeys).toHaveLength(48);
    vi.advanceTimersByTime(12 * HOUR_MS);
    expect(told.map((each) => each.ticketKeys)).toEqual([certificates.inForce.ticketKeys]);
    expect(certificates.inForce.ticketKeys).not.toEqual(ticketKeys);
  });
});

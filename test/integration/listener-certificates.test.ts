// The certificates that the supervisor holds: what it keeps when files break, what it warns of, when keys of tickets change.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type GatewayConfig, gatewaySchema } from '../../gateway/config/gateway-schema.ts';
import { systemClock } from '../../gateway/core/clock.ts';
import { ListenerCertificates } from '../../gateway/listener-certificates.ts';
import { type ListenerMaterial, materialKey, type TlsInForce } from '../../gateway/tls/served-certificate.ts';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../support/certificates.ts';
import { waitFor } from '../support/wait-for.ts';

const HOUR_MS = 3_600_000;

describe.skipIf(!hasOpenssl())('the certificates of listeners', () => {
  let authority: Authority;
  let one: SignedPair;
  let two: SignedPair;
  let listen: GatewayConfig['listen'];
  let log: string[];
  let told: TlsInForce[];
  let onChange: (inForce: TlsInForce) => void;
  let certificates: ListenerCertificates;

  beforeEach(() => {
    authority = createAuthority();
    one = authority.sign('one', { days: 100 });
    two = authority.sign('two', { days: 100 });
    listen = listenWith(one, two);
    log = [];
    told = [];
    onChange = (inForce) => told.push(inForce);
    const write = (fields: object, message: string) => void log.push(`${message} ${JSON.stringify(fields)}`);
    certificates = new ListenerCertificates({
      clock: systemClock,
      log: { debug: write, info: write, warn: write, error: write },
      onChange: (inForce) => onChange(inForce),
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

  /** Puts another pair in the files of the first one. */
  function renewOne(): SignedPair {
    const fresh = authority.sign('fresh', { days: 100 });
    writeFileSync(one.certFile, fresh.cert);
    writeFileSync(one.keyFile, fresh.key);
    return fresh;
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
    const fresh = renewOne();
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

  it('takes a certificate that names nobody from a folder, next to what it has', async () => {
    const folder = mkdtempSync(join(authority.folder, 'served-'));
    const named = authority.sign('named', { folder, days: 100 });
    listen = gatewaySchema.parse({ listen: [{ address: 'a:443', tls: { certificates: folder } }] }).listen;
    await certificates.start(listen);
    const options = { folder, days: 100, subject: '/' };
    const nameless = authority.sign('nameless', { ...options, names: ['URI:spiffe://shop.example/orders'] });
    const bare = authority.sign('nothing', { ...options, names: [] });
    await certificates.refresh();
    expect(pems().sort()).toEqual([named, nameless, bare].map(({ cert }) => cert.trim()).sort());
    expect(certificates.stateOf(tlsOf(listen)).map(({ names }) => names.length)).toEqual([2, 0, 0]);
    expect(certificates.count('broken')).toBe(0);
  });

  it('goes on watching after a look that failed, and says so', async () => {
    onChange = () => {
      throw new Error('no worker takes it');
    };
    await certificates.start(listen);
    renewOne();
    await waitFor(() => logged('certificates could not be read again').length === 1, {
      limitMs: 5000,
      what: 'the log',
    });
    onChange = (inForce) => told.push(inForce);
    const fresh = renewOne();
    await waitFor(() => told.length === 1, { limitMs: 5000, what: 'the next look' });
    expect(pems()).toEqual([fresh.cert.trim(), two.cert.trim()]);
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

// Agents over TLS: an authority of one's own, a client certificate, and files that are missing or replaced.
import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createConsulSource } from '../../gateway/discovery/consul.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import type { TlsFiles } from '../../gateway/discovery/tls-connector.ts';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../support/certificates.ts';
import { consulEntry } from '../support/consul-entry.ts';
import { consulSourceOptions } from '../support/consul-source-options.ts';
import { type RecordedWatch, recordWatch } from '../support/record-events.ts';
import { type ScriptedConsul, startScriptedConsul } from '../support/scripted-consul.ts';
import { waitFor } from '../support/wait-for.ts';

describe.skipIf(!hasOpenssl())('a Consul agent over TLS', () => {
  let own: Authority;
  let strange: Authority;
  let client: SignedPair;
  let consul: ScriptedConsul;
  const sources: DiscoverySource[] = [];

  beforeAll(async () => {
    own = createAuthority();
    strange = createAuthority();
    client = own.sign('client');
    const { cert, key } = own.sign('agent');
    consul = await startScriptedConsul({ cert, key, ca: own.ca, requestCert: true, rejectUnauthorized: true });
    consul.set('web', { entries: [consulEntry({ port: 1 })] });
  });
  afterEach(async () => {
    await Promise.all(sources.splice(0).map((source) => source.stop()));
  });
  afterAll(async () => {
    await consul.stop();
    own.remove();
    strange.remove();
  });

  function watch(tls: Partial<TlsFiles>): RecordedWatch {
    const files = { ca: own.caFile, cert: client.certFile, key: client.keyFile, ...tls };
    const source = createConsulSource(consulSourceOptions({ agents: [consul.url], tls: files }));
    sources.push(source);
    return recordWatch(source, 'web');
  }

  async function failure(web: RecordedWatch): Promise<string> {
    await waitFor(() => web.failures.length > 0, { limitMs: 3000, what: 'a failure' });
    expect(web.answers).toEqual([]);
    return web.failures[0]?.error ?? '';
  }

  it('is asked with the authority and the client certificate of the configuration', async () => {
    const web = watch({});
    await web.ports([1]);
    expect(web.failures).toEqual([]);
  });

  it('is not believed when another authority signed its certificate', async () => {
    expect(await failure(watch({ ca: strange.caFile }))).toMatch(/certificate/);
  });

  it('is not believed on the word of the authorities that Node knows', async () => {
    expect(await failure(watch({ ca: '' }))).toMatch(/certificate/);
  });

  it('refuses a client without certificate, which is a failure like any other', async () => {
    await failure(watch({ cert: '', key: '' }));
  });

  it('refuses the certificate of a stranger, which is a failure like any other', async () => {
    const { certFile, keyFile } = strange.sign('stranger');
    await failure(watch({ cert: certFile, key: keyFile }));
  });

  it('is asked as soon as a file that was missing is there', async () => {
    const late = `${own.folder}/late.pem`;
    const web = watch({ ca: late });
    expect(await failure(web)).toMatch(/ENOENT.*late\.pem/);
    writeFileSync(late, own.ca);
    await web.ports([1], 5000);
  });

  it('is reached with the files of the moment: a replaced certificate needs no restart', async () => {
    const rotated = `${own.folder}/rotated.pem`;
    writeFileSync(rotated, strange.ca);
    const web = watch({ ca: rotated });
    await failure(web);
    writeFileSync(rotated, own.ca);
    await web.ports([1], 5000);
    rmSync(rotated);
  });
});

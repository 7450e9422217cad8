// The certificate files of the configuration: what cannot be used is a problem of its key, before anything starts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../gateway/config/load.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../../support/certificates.ts';

describe.skipIf(!hasOpenssl())('the TLS files of discovery.consul', () => {
  let authority: Authority;
  let pair: SignedPair;
  let other: SignedPair;
  beforeAll(() => {
    authority = createAuthority();
    pair = authority.sign('a');
    other = authority.sign('b');
    mkdirSync(join(authority.folder, 'routes'));
    writeFileSync(join(authority.folder, 'empty.pem'), '');
  });
  afterAll(() => authority.remove());

  async function problems(tls: Readonly<Record<string, string>>): Promise<string[]> {
    const gatewayFile = join(authority.folder, 'gateway.yaml');
    const gateway = { routes: 'routes', discovery: { consul: { agents: ['https://a:8501'], tls } } };
    writeFileSync(gatewayFile, JSON.stringify(gateway));
    const result = await loadConfig({ gatewayFile, environment: {} });
    return result.ok ? [] : result.problems.map((problem) => formatProblem(problem).slice(gatewayFile.length));
  }

  it('may be an authority, and a client certificate with its key', async () => {
    expect(await problems({ ca: authority.caFile })).toEqual([]);
    expect(await problems({ ca: authority.caFile, cert: pair.certFile, key: pair.keyFile })).toEqual([]);
  });

  it('are all named when they cannot be read', async () => {
    expect(await problems({ ca: '/nowhere/ca.pem', cert: '/nowhere/a.pem', key: '/nowhere/a.key' })).toEqual([
      expect.stringMatching(/^:1:\d+ discovery\.consul\.tls\.ca: the file cannot be read \(ENOENT\), expected a file/),
      expect.stringMatching(
        /^:1:\d+ discovery\.consul\.tls\.cert: the file cannot be read \(ENOENT\), expected a file/,
      ),
      expect.stringMatching(/^:1:\d+ discovery\.consul\.tls\.key: the file cannot be read \(ENOENT\), expected a file/),
    ]);
  });

  it('are refused when they hold something else', async () => {
    const empty = join(authority.folder, 'empty.pem');
    expect(await problems({ ca: empty, cert: pair.keyFile, key: pair.certFile })).toEqual([
      expect.stringMatching(/tls\.ca: not valid, expected a file with a certificate in PEM$/),
      expect.stringMatching(/tls\.cert: not valid, expected a file with a certificate in PEM$/),
      expect.stringMatching(/tls\.key: not valid, expected a file with a private key in PEM without passphrase$/),
    ]);
  });

  it('are refused when the key belongs to another certificate', async () => {
    expect(await problems({ cert: pair.certFile, key: other.keyFile })).toEqual([
      expect.stringMatching(/tls\.key: not the key of the certificate$/),
    ]);
  });
});

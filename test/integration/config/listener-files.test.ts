// The certificate files of listeners: what cannot be used is a problem of its key, before anything starts.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewaySchema } from '../../../gateway/config/gateway-schema.ts';
import { loadFiles } from '../../../gateway/config/load.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../../support/certificates.ts';

describe.skipIf(!hasOpenssl())('the certificate files of a listener', () => {
  let authority: Authority;
  let pair: SignedPair;
  let other: SignedPair;
  let gatewayFile: string;
  const file = (name: string) => join(authority.folder, name);

  beforeAll(() => {
    authority = createAuthority();
    gatewayFile = file('gateway.yaml');
    pair = authority.sign('a');
    other = authority.sign('b');
    mkdirSync(file('routes'));
    mkdirSync(file('empty'));
    mkdirSync(file('certs'));
    authority.sign('good', { folder: file('certs') });
    writeFileSync(file('certs/lonely.pem'), other.cert);
    writeFileSync(file('not.der'), 'no response');
    spawnSync('openssl', ['ec', '-in', pair.keyFile, '-aes256', '-passout', 'pass:secret', '-out', file('locked.key')]);
    spawnSync('openssl', [
      'pkcs8',
      '-topk8',
      '-in',
      pair.keyFile,
      '-passout',
      'pass:secret',
      '-out',
      file('locked8.key'),
    ]);
  });
  afterAll(() => authority.remove());

  async function problems(tls: object, inForce?: object): Promise<string[]> {
    writeFileSync(gatewayFile, JSON.stringify({ routes: 'routes', listen: [{ address: 'a:443', tls }] }));
    const lastGood = inForce && {
      gateway: gatewaySchema.parse({ listen: [{ address: 'a:443', tls: inForce }] }),
      folder: file('routes'),
    };
    const { gateway } = await loadFiles({ gatewayFile, environment: {}, ...(lastGood && { lastGood }) });
    return gateway.ok
      ? []
      : gateway.problems.map((each) => formatProblem(each).replace(/^.*gateway\.yaml:1:\d+ listen\[0\]\.tls\./, ''));
  }
  const pairs = (...keys: { cert: string; key: string; ocsp?: string }[]) => ({ certificates: keys });

  it('may be pairs, and a folder', async () => {
    expect(await problems(pairs({ cert: pair.certFile, key: pair.keyFile }))).toEqual([]);
    writeFileSync(file('chain.pem'), `${pair.cert}\n${authority.ca}`);
    expect(await problems(pairs({ cert: file('chain.pem'), key: pair.keyFile }))).toEqual([]);
  });

  it('may have expired: clients say what they think of that', async () => {
    const expired = authority.sign('expired', { days: -1 });
    expect(await problems(pairs({ cert: expired.certFile, key: expired.keyFile }))).toEqual([]);
  });

  it.each([
    [
      'cannot be read',
      'nowhere.pem',
      'a.key',
      'certificates[0].cert: the file cannot be read (ENOENT), expected a file with a certificate in PEM',
    ],
    [
      'is no certificate',
      'a.key',
      'a.key',
      'certificates[0].cert: not valid, expected a file with a certificate in PEM',
    ],
    [
      'is no key',
      'a.pem',
      'a.pem',
      'certificates[0].key: not valid, expected a file with a private key in PEM without passphrase',
    ],
    ['is the key of another', 'a.pem', 'b.key', 'certificates[0].key: not the key of the certificate'],
    [
      'has a passphrase',
      'a.pem',
      'locked.key',
      'certificates[0].key: a key with a passphrase, expected a file with a private key in PEM without passphrase',
    ],
    [
      'has a passphrase in PKCS 8',
      'a.pem',
      'locked8.key',
      'certificates[0].key: a key with a passphrase, expected a file with a private key in PEM without passphrase',
    ],
  ])('are refused where one %s', async (_what, cert, key, problem) => {
    expect(await problems(pairs({ cert: file(cert), key: file(key) }))).toEqual([problem]);
  });

  it('are refused where an OCSP response, or an authority, is none', async () => {
    const tls = {
      ...pairs({ cert: pair.certFile, key: pair.keyFile, ocsp: file('not.der') }),
      clientCertificates: 'request',
      clientCa: pair.keyFile,
    };
    expect(await problems(tls)).toEqual([
      'certificates[0].ocsp: not an OCSP response in DER, expected an OCSP response in DER',
      'clientCa: not valid, expected a file with a certificate in PEM',
    ]);
  });

  it('are named where they stand in a folder, and one is needed', async () => {
    expect(await problems({ certificates: file('certs') })).toEqual([
      `certificates: ${file('certs/lonely.key')}: the file cannot be read (ENOENT), expected a file with a private key in PEM without passphrase`,
    ]);
    const expected = 'expected a folder with NAME.pem and NAME.key';
    expect(await problems({ certificates: file('empty') })).toEqual([
      `certificates: the folder has no certificate, ${expected}`,
    ]);
    expect(await problems({ certificates: file('none') })).toEqual([
      `certificates: the folder cannot be read (ENOENT), ${expected}`,
    ]);
  });

  it('do not keep gateway.yaml out of force at a reload when an earlier version of them serves', async () => {
    const broken = { certificates: file('certs') };
    expect(await problems(broken, broken)).toEqual([]);
    expect(await problems({ ...broken, minVersion: '1.3' }, broken)).toEqual([]);
    expect(await problems(broken, pairs({ cert: pair.certFile, key: pair.keyFile }))).toHaveLength(1);
  });
});

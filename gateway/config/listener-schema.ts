// A listener of gateway.yaml: where it listens, how TLS ends there, and what becomes of plain requests.
import { getCiphers } from 'node:tls';
import { z } from 'zod';
import { choice, duration, filePath, flag, list, pattern, refuse, section, text, whole } from './fields.ts';
import { listenAddress, network } from './net-fields.ts';

const optionalFile = pattern('a file name, or ""', /^[^\0]*$/);

/** The longest time of Strict-Transport-Security: ten years. */
const LONGEST_HSTS = '87600h';
/** What the preload lists of browsers ask for: a year. */
const PRELOAD_MS = 365 * 24 * 3_600_000;
const OFF = Number.POSITIVE_INFINITY;

const pair = section({
  cert: filePath('a file name').describe('Certificate in PEM, its chain behind it; relative to the working directory.'),
  key: filePath('a file name').describe('Private key in PEM, without passphrase.'),
  ocsp: optionalFile.prefault('').describe('OCSP response (DER) that is stapled; empty = none.'),
});

const cipher = text('an OpenSSL name of a cipher of TLS 1.2, like ECDHE-RSA-AES128-GCM-SHA256', (written) => {
  const name = written.toUpperCase();
  return !name.startsWith('TLS_') && getCiphers().includes(name.toLowerCase()) ? name : undefined;
});

const tls = section({
  certificates: z
    .union([filePath('a folder'), list(pair, { of: 'pairs, each with cert and key', min: 1 })], {
      error: 'a folder, or a list of pairs, each with cert and key',
    })
    .describe(
      'Chosen by the name that the client asks for; the first is for all other names. Or a folder: NAME.pem (or .crt) with NAME.key and maybe NAME.ocsp, or NAME/fullchain.pem with NAME/privkey.pem.',
    ),
  minVersion: z
    .enum(['1.2', '1.3'], { error: '"1.2" or "1.3", in quotes' })
    .default('1.2')
    .describe('The oldest version of TLS.'),
  ciphers: list(cipher, { of: 'OpenSSL names of ciphers' })
    .prefault([])
    .describe('Ciphers of TLS 1.2, in place of the ECDHE ones with AEAD; empty = those. TLS 1.3 has its own.'),
  clientCertificates: choice(['off', 'request', 'require'])
    .default('off')
    .describe('Whether clients are asked for a certificate, and refused without one that clientCa has signed.'),
  clientCa: optionalFile
    .prefault('')
    .describe('Authorities in PEM that may sign the certificates of clients; needed with request and require.'),
  tickets: flag.default(true).describe('Whether clients may resume a session, at any worker, by a ticket.'),
}).transform(({ clientCertificates, clientCa, minVersion, ...rest }, checking) => {
  if (clientCertificates !== 'off' && clientCa === '') {
    refuse(checking, {
      wrong: `${clientCertificates} without clientCa`,
      expected: 'clientCa to be set as well',
      path: ['clientCertificates'],
    });
  }
  if (clientCertificates === 'off' && clientCa !== '') {
    refuse(checking, {
      wrong: 'nobody is asked for a certificate',
      expected: 'clientCertificates to be request or require',
      path: ['clientCa'],
    });
  }
  if (minVersion === '1.3' && rest.ciphers.length > 0) {
    refuse(checking, { wrong: 'ciphers of TLS 1.2 beside minVersion 1.3', expected: 'none', path: ['ciphers'] });
  }
  const oldest = minVersion === '1.3' ? ('TLSv1.3' as const) : ('TLSv1.2' as const);
  return { ...rest, minVersion: oldest, clientCertificates, clientCa };
});

const redirect = z.union(
  [
    choice(['https']),
    section({
      to: choice(['https']).describe('The scheme.'),
      port: whole({ min: 1, max: 65_535 }).default(443).describe('The port that clients shall use instead.'),
    }),
  ],
  { error: 'https, or a mapping with to, port' },
);

const hsts = z.union(
  [
    duration({ min: '0s', max: LONGEST_HSTS, off: true }),
    section({
      maxAge: duration({ min: '0s', max: LONGEST_HSTS }).describe('How long browsers shall remember it.'),
      includeSubDomains: flag.default(false).describe('Whether it is for all names below as well.'),
      preload: flag
        .default(false)
        .describe('Asks for a place in the lists of browsers; needs a year and includeSubDomains.'),
    }),
  ],
  { error: 'off, a duration like 8760h, or a mapping with maxAge, includeSubDomains, preload' },
);

/** One entry of `listen`. */
export const listener = section({
  address: listenAddress.describe('Where to listen, like 0.0.0.0:8080 or "[::]:8080".'),
  tls: tls.exactOptional().describe('TLS ends here; absent: plain HTTP.'),
  http2: flag
    .exactOptional()
    .describe(
      'Whether clients may speak HTTP/2: they agree on it over TLS; without tls they begin with it (h2c with prior knowledge). Absent: true with tls, else false.',
    ),
  redirect: redirect
    .exactOptional()
    .describe('Answers every request but those for ACME with 308 to https; only without tls.'),
  hsts: hsts.prefault('off').describe('Strict-Transport-Security in every answer; only with tls.'),
  proxyProtocol: list(network, { of: 'networks like 10.0.0.0/8' })
    .prefault([])
    .describe(
      'Peers that begin every connection with a PROXY header (version 1 or 2), whose address counts as theirs; theirs are closed without one, others are not asked.',
    ),
}).transform(({ address, tls, http2, redirect, hsts, proxyProtocol }, checking) => {
  if (tls !== undefined && redirect !== undefined) {
    refuse(checking, { wrong: 'a listener with tls', expected: 'redirect where there is no tls', path: ['redirect'] });
  }
  if (tls === undefined && hsts !== OFF) {
    refuse(checking, {
      wrong: 'no tls',
      expected: 'tls to be set as well: browsers ignore it otherwise',
      path: ['hsts'],
    });
  }
  if (typeof hsts === 'object' && hsts.preload && (hsts.maxAge < PRELOAD_MS || !hsts.includeSubDomains)) {
    refuse(checking, {
      wrong: 'not what the lists take',
      expected: 'maxAge of at least 8760h, and includeSubDomains',
      path: ['hsts', 'preload'],
    });
  }
  return {
    ...address,
    tls: tls ?? null,
    http2: http2 ?? tls !== undefined,
    proxyProtocol,
    redirect: redirect === undefined ? null : { port: redirect === 'https' ? 443 : redirect.port },
    hsts: hstsValue(hsts),
  };
});

/** A listener in force. `hsts` is the value of Strict-Transport-Security, or null. */
export type ListenerConfig = z.output<typeof listener>;

/** How TLS ends at a listener; files are as they were written. */
export type TlsConfig = z.output<typeof tls>;

function hstsValue(written: z.output<typeof hsts>): string | null {
  if (written === OFF) return null;
  const { maxAge, includeSubDomains, preload } =
    typeof written === 'number' ? { maxAge: written, includeSubDomains: false, preload: false } : written;
  const seconds = `max-age=${Math.floor(maxAge / 1000)}`;
  return `${seconds}${includeSubDomains ? '; includeSubDomains' : ''}${preload ? '; preload' : ''}`;
}

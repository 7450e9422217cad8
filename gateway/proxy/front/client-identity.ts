// Who a client is by its certificate, as field lines for services (RFC 9440).
import type { X509Certificate } from 'node:crypto';

/** The parts of a certificate that services are told. */
export interface IdentityCertificate extends Pick<X509Certificate, 'raw' | 'fingerprint256'> {
  /** Node leaves it undefined where it is empty, whatever its types say. */
  readonly subject: string | undefined;
}

/**
 * `Client-Cert` is the certificate as RFC 9440 writes it, `X-Client-Cert-Subject` its subject as RFC 4514 does, and
 * `X-Client-Cert-Fingerprint` the SHA-256 of it in lower-case hexadecimal.
 */
export function identityLines({ raw, subject, fingerprint256 }: IdentityCertificate): string {
  const fingerprint = fingerprint256.replaceAll(':', '').toLowerCase();
  return `Client-Cert: :${raw.toString('base64')}:\r\nX-Client-Cert-Subject: ${distinguishedName(subject)}\r\nX-Client-Cert-Fingerprint: ${fingerprint}\r\n`;
}

/** Node gives one attribute a line, the most general first, escaped but for what is not ASCII. */
function distinguishedName(subject: string | undefined): string {
  return (subject ?? '')
    .split('\n')
    .toReversed()
    .join(',')
    .replaceAll(/[^\x20-\x7e]+/g, escaped);
}

function escaped(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((octet) => `\\${octet.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

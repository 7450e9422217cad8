// The names that a certificate is for.
import type { X509Certificate } from 'node:crypto';

/** Node leaves undefined what a certificate does not have, whatever its types say. */
export interface NamedCertificate {
  readonly subjectAltName: X509Certificate['subjectAltName'];
  readonly subject: string | undefined;
}

/**
 * The DNS names and IP addresses of the subjectAltName, as `normalName` writes them, each once; only where there are
 * none of either, the common name of the subject (which RFC 9110 section 4.3.4 has clients ignore).
 */
export function namesOf({ subjectAltName, subject }: NamedCertificate): string[] {
  const names = alternativeNames(subjectAltName ?? '');
  return [...new Set((names.length > 0 ? names : commonNames(subject)).map(normalName))];
}

/** A name as names are compared: in lower case, without the final dot. */
export function normalName(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

/** Node writes `DNS:a.example, IP Address:192.0.2.1`, and in JSON's quotes what could be taken for another entry. */
function alternativeNames(written: string): string[] {
  const entries = written.matchAll(/(DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g);
  return [...entries].flatMap(([, , value = '']) => (value.startsWith('"') || value === '' ? [] : [value]));
}

function commonNames(subject: string | undefined): string[] {
  const names = (subject ?? '').split('\n').flatMap((line) => (line.startsWith('CN=') ? [line.slice(3)] : []));
  return names.filter((name) => name !== '');
}

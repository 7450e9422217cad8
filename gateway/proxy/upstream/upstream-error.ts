// What a socket's error says about an attempt.
import type { AttemptFailure } from '../../core/failure.ts';

const CONNECT_FAILURES: ReadonlyMap<string, AttemptFailure> = new Map([
  ['ECONNREFUSED', 'connection_refused'],
  ['EHOSTUNREACH', 'destination_ip_unroutable'],
  ['ENETUNREACH', 'destination_ip_unroutable'],
  ['EADDRNOTAVAIL', 'destination_ip_unroutable'],
  ['ENOTFOUND', 'dns_error'],
  ['EAI_AGAIN', 'dns_error'],
  ['ETIMEDOUT', 'connection_timeout'],
]);

/** OpenSSL's verdicts on a certificate, as Node names them. */
const CERTIFICATE_CODE = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|ERR_TLS_CERT_)/;

/** The failure behind an error; before the connection was made the code tells, afterwards it was cut. */
export function attemptFailure(error: NodeJS.ErrnoException, isConnected: boolean): AttemptFailure {
  const code = error.code ?? '';
  if (isConnected) return 'connection_terminated';
  if (CERTIFICATE_CODE.test(code)) return 'tls_certificate_error';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return 'tls_protocol_error';
  return CONNECT_FAILURES.get(code) ?? 'connection_terminated';
}

/** Codes that tell of this machine running out of something, not of the endpoint. */
const LOCAL_SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

export function isLocalShortage(error: NodeJS.ErrnoException): boolean {
  return LOCAL_SHORTAGES.has(error.code ?? '');
}

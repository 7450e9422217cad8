// Why a handshake with a client failed, as coarsely as it is counted.
import type { HandshakeFailure } from '../../shared/tls-cell.ts';

const BY_CODE: ReadonlyMap<string, HandshakeFailure> = new Map([
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'version'],
  ['ERR_SSL_VERSION_TOO_LOW', 'version'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'version'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'version'],
  ['ERR_SSL_NO_SHARED_CIPHER', 'cipher'],
  ['ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM', 'cipher'],
  ['ERR_SSL_NO_SHARED_GROUP', 'cipher'],
  ['ERR_SSL_NO_SUITABLE_KEY_SHARE', 'cipher'],
  ['ERR_SSL_NO_APPLICATION_PROTOCOL', 'alpn'],
  ['ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', 'client_certificate'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'timeout'],
  ['ECONNRESET', 'closed'],
  ['EPIPE', 'closed'],
]);

/** `code` is that of the error; `hasBadCertificate` when the client gave a certificate that is not trusted. */
export function handshakeFailureOf(code: string, hasBadCertificate: boolean): HandshakeFailure {
  if (hasBadCertificate) return 'client_certificate';
  const known = BY_CODE.get(code);
  if (known !== undefined) return known;
  return code.includes('_ALERT_') ? 'client_alert' : 'protocol';
}

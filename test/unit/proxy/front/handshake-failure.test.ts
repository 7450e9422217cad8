// Why a handshake failed, as it is counted.
import { describe, expect, it } from 'vitest';
import { handshakeFailureOf } from '../../../../gateway/proxy/front/handshake-failure.ts';

describe('a failed handshake', () => {
  it.each([
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'version'],
    ['ERR_SSL_NO_SHARED_CIPHER', 'cipher'],
    ['ERR_SSL_NO_APPLICATION_PROTOCOL', 'alpn'],
    ['ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', 'client_certificate'],
    ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN', 'client_alert'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client_alert'],
    ['ECONNRESET', 'closed'],
    ['ERR_SSL_BAD_KEY_SHARE', 'protocol'],
    ['', 'protocol'],
  ])('%s counts as %s', (code, reason) => {
    expect(handshakeFailureOf(code, false)).toBe(reason);
  });

  it('is about the certificate of the client where that is not trusted, however it ended', () => {
    expect(handshakeFailureOf('ECONNRESET', true)).toBe('client_certificate');
  });
});

// How TLS is spoken at a listener: versions, ciphers, curves, and what a session may be resumed by.
import { constants, createHash } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { ListenerMaterial } from './served-certificate.ts';

/** The ciphers of TLS 1.3, which OpenSSL names in the same list. */
const TLS13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Those of TLS 1.2 with forward secrecy and AEAD: Mozilla's "intermediate", without finite-field Diffie-Hellman. */
const TLS12 = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/** Safe from the quantum computers that may come, and what browsers ask for first; OpenSSL has it from 3.5 on. */
const HYBRID = 'X25519MLKEM768';

const CURVES = [...(isKnownGroup(HYBRID) ? [HYBRID] : []), 'X25519', 'prime256v1', 'secp384r1'].join(':');

/** What a listener's configuration says of it. */
export interface ServerPolicy {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** Of TLS 1.2; empty = the default ones. */
  readonly ciphers: readonly string[];
  readonly clientCertificates: 'off' | 'request' | 'require';
  readonly tickets: boolean;
}

/** Octets of the keys that tickets are sealed with: OpenSSL takes a name, a secret for the MAC and one for AES-256. */
export const TICKET_KEY_BYTES = 48;

/** What all secure contexts of a listener have in common. */
export function contextOptions(
  policy: ServerPolicy,
  { clientCa }: Pick<ListenerMaterial, 'clientCa'>,
  ticketKeys: Uint8Array,
): SecureContextOptions {
  const ciphers = policy.ciphers.length === 0 ? TLS12 : policy.ciphers;
  return {
    minVersion: policy.minVersion,
    maxVersion: 'TLSv1.3',
    ciphers: [...TLS13, ...ciphers].join(':'),
    ecdhCurve: CURVES,
    // But a client that puts ChaCha20 first has no AES in its machine.
    honorCipherOrder: true,
    secureOptions:
      constants.SSL_OP_NO_RENEGOTIATION |
      constants.SSL_OP_PRIORITIZE_CHACHA |
      (policy.tickets ? 0 : constants.SSL_OP_NO_TICKET),
    sessionIdContext: sessionContext(policy, clientCa),
    ticketKeys: Buffer.from(ticketKeys),
    ...(policy.clientCertificates !== 'off' && { ca: clientCa }),
  };
}

/**
 * A session is resumed without a look at certificates: so one that began where nobody is asked for any, or where other
 * authorities are trusted, must not be resumed where it matters. At most 32 characters.
 */
function sessionContext({ clientCertificates }: ServerPolicy, clientCa: string): string {
  return createHash('sha256').update(`${clientCertificates}\n${clientCa}`).digest('hex').slice(0, 32);
}

function isKnownGroup(name: string): boolean {
  try {
    createSecureContext({ ecdhCurve: name });
    return true;
  } catch {
    return false;
  }
}

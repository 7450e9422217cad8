// The listeners at which a request can come in, as lines for people.
import type { ExplainedCertificate, ExplainedEntry, ExplainedListener } from './explanation.ts';

/** A line for each listener and further ones for what it shows and demands; unprintable characters are still in them. */
export function entryLines({ scheme, serverName, listeners }: ExplainedEntry): string[] {
  if (listeners.length > 0) return listeners.flatMap((listener) => listenerLines(listener, serverName));
  return [scheme === 'https' ? 'none speaks TLS' : 'none speaks plain HTTP'];
}

function listenerLines({ address, tls, http2, redirect, hsts, proxyProtocol }: ExplainedListener, serverName: string) {
  if (tls === null) {
    const versions = http2 ? 'plain HTTP/1.1, or HTTP/2 with prior knowledge' : 'plain HTTP/1.1';
    const sent = redirect === null ? [] : [`  sends it with 308 to ${redirect}`];
    return [`${address}  ${versions}`, ...sent, ...proxyLines(proxyProtocol)];
  }
  const versions = `${tls.minVersion === 'TLSv1.3' ? 'TLS 1.3' : 'TLS 1.2 or 1.3'}, HTTP/1.1${http2 ? ' or HTTP/2' : ''}`;
  const demands = { off: [], request: ['  asks for a certificate'], require: ['  demands a certificate'] };
  return [
    `${address}  ${versions}`,
    ...certificateLines(tls, serverName),
    ...demands[tls.clientCertificates].map((line) => `${line} of the client`),
    ...(hsts === null ? [] : [`  Strict-Transport-Security: ${hsts}`]),
    ...proxyLines(proxyProtocol),
  ];
}

function certificateLines(tls: NonNullable<ExplainedListener['tls']>, serverName: string): string[] {
  const { certificates, isByName } = tls;
  if (certificates.length === 0) return ['  its certificates cannot be used'];
  const why = isByName
    ? `for ${serverName}`
    : `the default: ${serverName === '' ? 'no name is asked for' : `none is for ${serverName}`}`;
  return certificates.map((certificate) => `  shows ${certificateWords(certificate)} (${why})`);
}

function certificateWords({ file, names, keyType, notAfter }: ExplainedCertificate): string {
  return `${file}: ${names.length === 0 ? 'no name' : names.join(', ')}, ${keyType}, until ${notAfter}`;
}

function proxyLines(peers: readonly string[]): string[] {
  return peers.length === 0 ? [] : [`  connections from ${peers.join(', ')} begin with a PROXY header`];
}

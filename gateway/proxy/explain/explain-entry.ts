// At which listeners a request can come in, which certificate its client is shown there, and whether it is sent to https.
import type { ListenerConfig, TlsConfig } from '../../config/listener-schema.ts';
import { formatAddress } from '../../core/address.ts';
import { chooseCertificate, isCertified, prepareChoice } from '../../tls/choose-certificate.ts';
import type { ServedCertificate } from '../../tls/served-certificate.ts';
import { isRedirected, redirectLocation } from '../answers/https-redirect.ts';
import { type AskedUrl, asWritten } from './asked-request.ts';
import type { ExplainedEntry, ExplainedListener } from './explanation.ts';

/** What is known of a certificate that a listener serves. */
export type CertificateFacts = Pick<ServedCertificate, 'files' | 'names' | 'keyType' | 'notAfterMs'>;

export interface ListenerFacts {
  readonly listen: readonly ListenerConfig[];
  /** Those of a listener in the order of its files; none where they cannot be used. */
  certificatesOf(tls: TlsConfig): readonly CertificateFacts[];
}

/** The request in the form in which the door reads it; `path` is null when it is refused before a route is looked for. */
export interface SeenRequest {
  readonly host: string;
  readonly target: string;
  readonly path: string | null;
}

/** The port that clients use need not be the one that Weir listens on: it only counts where a listener has it. */
export function explainEntry(
  { scheme, serverName, port }: AskedUrl,
  seen: SeenRequest,
  facts: ListenerFacts,
): ExplainedEntry {
  const ofScheme = facts.listen.filter(({ tls }) => scheme === null || (tls !== null) === (scheme === 'https'));
  const ofPort = ofScheme.filter((listener) => listener.port === port);
  const possible = ofPort.length > 0 ? ofPort : ofScheme;
  const listeners = possible.map((listener): ExplainedListener => {
    const { host, tls, http2, hsts, proxyProtocol } = listener;
    return {
      address: formatAddress(host, listener.port),
      tls: tls === null ? null : explainTls(tls, facts.certificatesOf(tls), serverName),
      http2,
      redirect: redirectOf(listener, seen),
      hsts,
      proxyProtocol,
    };
  });
  return { scheme, serverName, listeners };
}

/** Where a request is sent at whichever listener it comes in; null when one of them takes it, or may take it. */
export function certainRedirect({ scheme, listeners }: ExplainedEntry): string | null {
  const [first] = listeners;
  const isCertain = scheme === 'http' && listeners.every(({ redirect }) => redirect !== null);
  return isCertain && first !== undefined ? first.redirect : null;
}

function explainTls(
  { minVersion, clientCertificates }: TlsConfig,
  served: readonly CertificateFacts[],
  serverName: string,
): NonNullable<ExplainedListener['tls']> {
  const choice = prepareChoice(served);
  const chosen = chooseCertificate(choice, serverName);
  const shown = chosen === null ? choice.byDefault : [chosen];
  const certificates = shown.map(({ files, names, keyType, notAfterMs }) => {
    return { file: files.cert, names, keyType, notAfter: new Date(notAfterMs).toISOString() };
  });
  return { minVersion, clientCertificates, certificates, isByName: isCertified(choice, serverName) };
}

function redirectOf({ redirect }: ListenerConfig, { host, target, path }: SeenRequest): string | null {
  if (redirect === null || path === null || host === '' || !isRedirected(path)) return null;
  return asWritten(redirectLocation({ host, target }, redirect));
}

// A certificate as it is served: what stands in its files, and what is known of it.

/** The files of one certificate; `ocsp` is '' for none. */
export interface PairFiles {
  readonly cert: string;
  readonly key: string;
  readonly ocsp: string;
}

/** The files of a listener's certificates: pairs, or a folder that has them. */
export type CertificateSource = string | readonly PairFiles[];

/** Read, checked, and plain data: threads send it to each other. */
export interface ServedCertificate {
  readonly files: PairFiles;
  /** The certificate with its chain, in PEM. */
  readonly cert: string;
  readonly key: string;
  /** The response in DER; null for none. */
  readonly ocsp: Uint8Array | null;
  /** As `namesOf` gives them. */
  readonly names: readonly string[];
  /** Like `rsa` or `ec`. */
  readonly keyType: string;
  /** When it expires, in milliseconds since the Unix epoch. */
  readonly notAfterMs: number;
  /** Tells versions apart: of the certificate and its response. */
  readonly mark: string;
}

/** What a listener serves. */
export interface ListenerMaterial {
  /** In the order of the source; never empty. */
  readonly certificates: readonly ServedCertificate[];
  /** The authorities of clients' certificates, in PEM; '' where nobody is asked. */
  readonly clientCa: string;
}

/** Names what a listener serves: listeners with the same files share it. */
export function materialKey(of: { readonly certificates: CertificateSource; readonly clientCa: string }): string {
  return JSON.stringify([of.certificates, of.clientCa]);
}

/** What all listeners serve, by `materialKey`, and the keys that seal the tickets of all workers. */
export interface TlsInForce {
  readonly materials: ReadonlyMap<string, ListenerMaterial>;
  readonly ticketKeys: Uint8Array;
}

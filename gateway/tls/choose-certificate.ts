// Which certificate a client is shown for the name that it asks for (SNI, RFC 6066 section 3).
import { normalName } from './certificate-names.ts';

/** What a choice has to know of a certificate. */
export interface NamedCertificate {
  /** As `namesOf` gives them; `*.` at the beginning stands for one label. */
  readonly names: readonly string[];
  /** Like `rsa` or `ec`. */
  readonly keyType: string;
}

/** Certificates by name, prepared once. */
export interface CertificateChoice<Certificate> {
  /**
   * For clients that ask for no name, or for one of nobody: the first of all, and with it the one of another key type
   * that is for the very same names. Empty only where there is none at all.
   */
  readonly byDefault: readonly Certificate[];
  /** Null is the default. */
  readonly byName: ReadonlyMap<string, Certificate | null>;
}

/**
 * Prepares the choice. Of several certificates for one name the first serves: Node lets a context that is chosen by name
 * show one only, and not those of two key types.
 */
export function prepareChoice<Certificate extends NamedCertificate>(
  certificates: readonly Certificate[],
): CertificateChoice<Certificate> {
  const [first] = certificates;
  if (first === undefined) return { byDefault: [], byName: new Map() };
  const twin = certificates.find((other) => other.keyType !== first.keyType && hasSameNames(other, first));
  const byDefault = twin === undefined ? [first] : [first, twin];
  const byName = new Map<string, Certificate | null>();
  for (const certificate of certificates) {
    const shown = byDefault.includes(certificate) ? null : certificate;
    for (const name of certificate.names) if (!byName.has(name)) byName.set(name, shown);
  }
  return { byDefault, byName };
}

/** Exact name before `*.` for its first label before the default, which is null; '' for no name. */
export function chooseCertificate<Certificate>(
  choice: CertificateChoice<Certificate>,
  servername: string,
): Certificate | null {
  return findByName(choice, servername) ?? null;
}

/** Whether one of the certificates is for the name, be it one of the default ones. */
export function isCertified(choice: CertificateChoice<unknown>, servername: string): boolean {
  return findByName(choice, servername) !== undefined;
}

function findByName<Certificate>({ byName }: CertificateChoice<Certificate>, servername: string) {
  const name = normalName(servername);
  const exact = byName.get(name);
  if (exact !== undefined) return exact;
  const dot = name.indexOf('.');
  return dot > 0 ? byName.get(`*${name.slice(dot)}`) : undefined;
}

function hasSameNames(one: NamedCertificate, other: NamedCertificate): boolean {
  return one.names.length === other.names.length && one.names.every((name) => other.names.includes(name));
}

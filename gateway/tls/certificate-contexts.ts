// The secure contexts of a listener: each made once between two changes, chosen by name for each client.
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { chooseCertificate, prepareChoice } from './choose-certificate.ts';
import type { ListenerMaterial, ServedCertificate } from './served-certificate.ts';

export interface CertificateContexts {
  /** For a client that asks for no name, or for one of nobody. */
  readonly byDefault: SecureContextOptions;
  /** Undefined is the default. */
  contextFor(servername: string): SecureContext | undefined;
  /** The OCSP response of the certificate (in DER) that a client is shown; null where there is none. */
  responseFor(certificate: Buffer): Buffer | null;
}

/** Prepares the contexts; each is made when the first client asks for it, for there may be thousands. */
export function createContexts(material: ListenerMaterial, common: SecureContextOptions): CertificateContexts {
  const choice = prepareChoice(material.certificates);
  const made = new Map<ServedCertificate, SecureContext>();
  // Of two certificates in one context Node does not tell which of them a client is shown.
  const stapled = material.certificates.filter(
    (each) => choice.byDefault.length < 2 || !choice.byDefault.includes(each),
  );
  const responses = new Map(stapled.map(({ cert, ocsp }) => [derOf(cert), ocsp]));
  return {
    byDefault: {
      ...common,
      cert: choice.byDefault.map(({ cert }) => cert),
      key: choice.byDefault.map(({ key }) => key),
    },
    contextFor: (servername) => {
      const certificate = chooseCertificate(choice, servername);
      if (certificate === null) return undefined;
      const { cert, key } = certificate;
      const context = made.get(certificate) ?? createSecureContext({ ...common, cert, key });
      made.set(certificate, context);
      return context;
    },
    responseFor: (certificate) => {
      const response = responses.get(certificate.toString('base64')) ?? null;
      return response === null ? null : Buffer.from(response);
    },
  };
}

/** The octets of the first certificate in PEM, in base64 without line ends. */
function derOf(pem: string): string {
  const [, base64 = ''] = /-----BEGIN CERTIFICATE-----([^-]*)/.exec(pem) ?? [];
  return base64.replaceAll(/\s/g, '');
}

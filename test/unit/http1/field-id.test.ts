import { describe, expect, it } from 'vitest';
import { equalsIgnoringCase, FIELD, fieldId } from '../../../gateway/http1/field-id.ts';
import { OCTETS, octetOf, TOKEN } from './parsing.ts';

/** The names by the keys of FIELD: `contentLength` is `content-length`. */
const NAMES = Object.entries(FIELD)
  .filter(([key]) => !['other', 'xForwardedOther', 'clientCertificate'].includes(key))
  .map(([key, id]) => [key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), id] as const);

function idOf(name: string): number {
  return fieldId(`<${name}>`, 1, 1 + name.length);
}

function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** What a name that is none of the known ones means. */
function expectedOf(name: string): number {
  const dashed = name.toLowerCase().replaceAll('_', '-');
  const isAlias = dashed.startsWith('x-forwarded-') || dashed === 'x-real-ip' || dashed === 'x-request-id';
  if (isAlias) return FIELD.xForwardedOther;
  return /^(?:client-cert(?:-chain)?|x-client-cert(?:-.*)?)$/.test(dashed) ? FIELD.clientCertificate : FIELD.other;
}

describe('the meaning of a field', () => {
  it.each(NAMES)('%s has its id in any case', (name, id) => {
    expect([name, name.toUpperCase(), titleCase(name)].map(idOf)).toEqual([id, id, id]);
  });

  it.each(NAMES)('%s with one octet more or less is another field', (name) => {
    const others = [`${name}s`, `x${name}`, name.slice(1), name.slice(0, -1)];
    expect(others.map(idOf)).toEqual(others.map(expectedOf));
  });

  it.each(NAMES)('%s with another octet anywhere is another field', (name) => {
    const wrong: string[] = [];
    for (let at = 0; at < name.length; at++) {
      for (const octet of OCTETS.map(octetOf)) {
        if (octet.toLowerCase() === name[at]) continue;
        const changed = name.slice(0, at) + octet + name.slice(at + 1);
        if (idOf(changed) !== expectedOf(changed)) wrong.push(changed);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each(['X-Forwarded-User', 'x_forwarded_for', 'X-Forwarded_Proto', 'x-forwarded-', 'X_Real_IP', 'x_request-id'])(
    '%s claims to say where a request came from',
    (name) => {
      expect(idOf(name)).toBe(FIELD.xForwardedOther);
    },
  );

  it.each([
    ...['Client-Cert', 'client_cert', 'Client-Cert-Chain', 'CLIENT_CERT_CHAIN', 'X-Client-Cert', 'x_client_cert'],
    ...['X-Client-Cert-Subject', 'X_Client-Cert_Fingerprint', 'x-client-cert-', 'X-Client-Cert-San'],
  ])('%s claims to tell of a certificate of the client', (name) => {
    expect(idOf(name)).toBe(FIELD.clientCertificate);
  });

  it.each(['client-certainty', 'client-cert-', 'client-certs', 'x-client-certs', 'x-client-cer', 'client'])(
    '%s is a field as any',
    (name) => {
      expect(idOf(name)).toBe(FIELD.other);
    },
  );

  it.each(['', 'x', 'content_length', 'transfer_encoding', 'x'.repeat(1000)])('%j has none', (name) => {
    expect(idOf(name)).toBe(FIELD.other);
  });
});

describe('comparing without case', () => {
  it('holds for the letters and for every other octet of a token itself', () => {
    const equal = [...TOKEN].map((one) => [...TOKEN.toLowerCase()].filter((two) => equalsIgnoringCase(one, 0, two)));
    expect(equal.map((octets) => new Set(octets))).toEqual([...TOKEN].map((octet) => new Set(octet.toLowerCase())));
  });

  it('is not deceived by octets that differ from a letter in one bit', () => {
    const alike = OCTETS.map(octetOf).filter((octet) => equalsIgnoringCase(octet, 0, 'a'));
    expect(alike).toEqual(['A', 'a']);
  });

  it('begins at the place it is told and does not run over the end', () => {
    expect(equalsIgnoringCase('x-Name: y', 2, 'name')).toBe(true);
    expect(equalsIgnoringCase('x-Nam', 2, 'name')).toBe(false);
  });
});

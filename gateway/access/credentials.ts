// What an Authorization field says: user name and password (RFC 7617), or a bearer token (RFC 6750).

export interface BasicCredentials {
  readonly name: string;
  readonly password: string;
}

/** Longer ones are nobody's. */
const MAX_BASIC_LENGTH = 2048;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 section 2 excludes exactly these.
const CONTROL = /[\u0000-\u001f\u007f]/;
const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Name (up to the first colon) and password of `Basic …`, in the normal form C of Unicode; undefined for another scheme,
 * what is no base64 or no UTF-8, without colon, with control characters, or longer than 2 KiB.
 */
export function readBasic(field: string): BasicCredentials | undefined {
  const encoded = behindScheme(field, 'basic ');
  if (encoded === undefined || encoded.length > MAX_BASIC_LENGTH || !BASE64.test(encoded)) return undefined;
  const octets = Buffer.from(encoded, 'base64');
  // Node reads on where others stop: what is not written back the same was no base64.
  if (octets.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) return undefined;
  const text = decode(octets);
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon === -1 || CONTROL.test(text)) return undefined;
  return { name: text.slice(0, colon).normalize('NFC'), password: text.slice(colon + 1).normalize('NFC') };
}

/** The token of `Bearer …` if it has the form of a signed JWT and at most `maxLength` characters; else undefined. */
export function readBearer(field: string, maxLength: number): string | undefined {
  const token = behindScheme(field, 'bearer ');
  return token !== undefined && token.length <= maxLength && TOKEN.test(token) ? token : undefined;
}

/** What stands behind the scheme, whose case does not matter; undefined for another scheme. */
function behindScheme(field: string, scheme: string): string | undefined {
  if (field.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  return field.slice(scheme.length).trimStart();
}

function decode(octets: Buffer): string | undefined {
  try {
    return utf8.decode(octets);
  } catch {
    return undefined;
  }
}

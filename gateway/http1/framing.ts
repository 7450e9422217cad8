// Where the content of a message ends (RFC 9112 section 6), decided once for every combination of fields.
import { equalsIgnoringCase, FIELD } from './field-id.ts';
import type { FieldTable } from './field-table.ts';
import { trimBlanks } from './octets.ts';
import type { Violation } from './violation.ts';

/** How content is delimited. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  /** A response whose content ends with its connection. */
  | { readonly kind: 'close' };

const NONE: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };
const CLOSE: Framing = { kind: 'close' };

/** Lengths up to here are whole numbers in a double. */
const MAX_LENGTH_DIGITS = 15;

/** The framing of a request. `minor` is the version's last digit. */
export function requestFraming(fields: FieldTable, minor: number): Framing | Violation {
  return declared(fields, minor) ?? NONE;
}

/** The framing of a response to a request with `method`. What has no content must still declare none that is broken. */
export function responseFraming(
  fields: FieldTable,
  response: { readonly minor: number; readonly status: number; readonly method: string },
): Framing | Violation {
  const { minor, status, method } = response;
  const framing = declared(fields, minor);
  if (typeof framing === 'string') return framing;
  // What a response without content declares means the content it would have had.
  if (method === 'HEAD' || status === 204 || status === 304 || status < 200) return NONE;
  return framing ?? CLOSE;
}

function declared(fields: FieldTable, minor: number): Framing | Violation | undefined {
  let length = -1;
  let coding: string | undefined;
  for (let field = 0; field < fields.count; field++) {
    const id = fields.id(field);
    if (id === FIELD.contentLength) {
      if (length !== -1) return 'repeated content length';
      length = parseLength(fields.value(field));
      if (length === -1) return 'malformed content length';
    } else if (id === FIELD.transferEncoding) {
      const value = fields.value(field);
      coding = coding === undefined ? value : `${coding},${value}`;
    }
  }
  if (coding !== undefined) {
    if (length !== -1) return 'content length and transfer encoding';
    if (minor === 0) return 'transfer encoding in HTTP/1.0';
    return coding.length === 7 && equalsIgnoringCase(coding, 0, 'chunked') ? CHUNKED : brokenCoding(coding);
  }
  return length === -1 ? undefined : { kind: 'length', length };
}

/** Only digits, so that no other parser can read another number; -1 for anything else. */
function parseLength(value: string): number {
  if (value.length === 0 || value.length > MAX_LENGTH_DIGITS) return -1;
  let length = 0;
  for (let at = 0; at < value.length; at++) {
    const digit = value.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}

function brokenCoding(coding: string): Violation {
  const codings = coding.split(',').map((each) => trimBlanks(each).toLowerCase());
  const isKnownForm = codings.at(-1) === 'chunked' && codings.every((each) => /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(each));
  const isOnce = codings.indexOf('chunked') === codings.length - 1;
  return isKnownForm && isOnce ? 'unknown transfer coding' : 'transfer encoding does not end in chunked';
}

// Fields that name parts of an HTTP message: methods, paths, header fields.
import { z } from 'zod';
import { type Checking, pattern, refuse, text } from './fields.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Z-]+$/;
const FIELD_VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;
const PATH = /^\/(?:[A-Za-z0-9._~!$&'()+,;=:@/-]|%[0-9A-Fa-f]{2})*$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;
const ENCODED_UNRESERVED = /%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)/i;

/** Fields that speak of one connection or of the message's own framing: Weir sets them, no rule may. */
const UNTOUCHABLE: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A request method (RFC 9110 section 9.1), in capitals. */
export const method = pattern('a method in capitals like GET', METHOD);

/** A path of a match rule, exact or with a final `*` a prefix; in the form that request paths are brought to (SPEC 2.2). */
export const pathPattern = text(
  'a path like /orders or /orders/*: * only at its end, no dot segments, nothing needlessly percent-encoded',
  (written) => {
    const isNormal = !DOT_SEGMENT.test(written) && !ENCODED_UNRESERVED.test(written);
    return isNormal && PATH.test(written.replace(/\*$/, '')) ? written : undefined;
  },
);

/** What is taken from or put before a path: `/api`, or nothing. */
export const pathPrefix = text('a path like /api without a final /, or nothing', (written) => {
  return written === '' || (PATH.test(written) && !DOT_SEGMENT.test(written) && !written.endsWith('/'))
    ? written
    : undefined;
});

/** A name of a header field (RFC 9110 section 5.6.2, a token). */
export const fieldName = pattern('a header name like x-request-id', TOKEN);

/** A value of a header field (RFC 9110 section 5.5): no control characters, no space at either end. */
export const fieldValue = pattern('text (numbers in quotes) without control characters or outer spaces', FIELD_VALUE);

/** The name of a header field that a rewrite may set or remove. */
export const rewritableName = text('a header name, other than those of the connection and of framing', (written) => {
  return TOKEN.test(written) && !UNTOUCHABLE.has(written.toLowerCase()) ? written : undefined;
});

/** Header fields by name; the same name twice in different case is refused. */
export function fieldMap(name: typeof fieldName) {
  return z.record(name, fieldValue, { error: 'a mapping of header names to values' }).transform((fields, checking) => {
    refuseRepeated(Object.keys(fields), checking);
    return fields;
  });
}

function refuseRepeated(names: readonly string[], checking: Checking): void {
  const seen = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    if (seen.has(lower))
      refuse(checking, { wrong: 'duplicate key: header names ignore case', path: [name], at: 'key' });
    seen.add(lower);
  }
}

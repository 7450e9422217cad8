// The fields that Weir itself has to know, told apart by length and letters without a lower-case copy of the name.

/** What a field means to Weir; 0 for all the others. */
export const FIELD = {
  other: 0,
  host: 1,
  connection: 2,
  contentLength: 3,
  transferEncoding: 4,
  te: 5,
  upgrade: 6,
  keepAlive: 7,
  proxyConnection: 8,
  expect: 9,
  trailer: 10,
  http2Settings: 11,
  xForwardedFor: 12,
  xForwardedProto: 13,
  xForwardedHost: 14,
  xForwardedPort: 15,
  xForwardedServer: 16,
  xForwardedPrefix: 17,
  forwarded: 18,
  xRealIp: 19,
  xRequestId: 20,
  date: 21,
  /** Any other name that begins with `x-forwarded-`, and every spelling of these with underscores. */
  xForwardedOther: 22,
  /** `Client-Cert` and `-Chain` (RFC 9440), `X-Client-Cert`, and all that begins so and with a dash; underscores too. */
  clientCertificate: 23,
  traceparent: 24,
  tracestate: 25,
} as const;

/** By length of the name: the names of that length with their ids. */
const BY_LENGTH: readonly (readonly (readonly [name: string, id: number])[])[] = byLength([
  ['host', FIELD.host],
  ['connection', FIELD.connection],
  ['content-length', FIELD.contentLength],
  ['transfer-encoding', FIELD.transferEncoding],
  ['te', FIELD.te],
  ['upgrade', FIELD.upgrade],
  ['keep-alive', FIELD.keepAlive],
  ['proxy-connection', FIELD.proxyConnection],
  ['expect', FIELD.expect],
  ['trailer', FIELD.trailer],
  ['http2-settings', FIELD.http2Settings],
  ['x-forwarded-for', FIELD.xForwardedFor],
  ['x-forwarded-proto', FIELD.xForwardedProto],
  ['x-forwarded-host', FIELD.xForwardedHost],
  ['x-forwarded-port', FIELD.xForwardedPort],
  ['x-forwarded-server', FIELD.xForwardedServer],
  ['x-forwarded-prefix', FIELD.xForwardedPrefix],
  ['forwarded', FIELD.forwarded],
  ['x-real-ip', FIELD.xRealIp],
  ['x-request-id', FIELD.xRequestId],
  ['date', FIELD.date],
  ['traceparent', FIELD.traceparent],
  ['tracestate', FIELD.tracestate],
]);

/** The id of the field whose name stands in `text` from `start` to `end`. */
export function fieldId(text: string, start: number, end: number): number {
  const candidates = BY_LENGTH[end - start];
  if (candidates !== undefined) {
    for (const [name, id] of candidates) if (equalsIgnoringCase(text, start, name)) return id;
  }
  const first = text.charCodeAt(start) | 0x20;
  if (first === LETTER_C) return isOneOf(CERTIFICATE_NAMES, text, start, end) ? FIELD.clientCertificate : FIELD.other;
  if (first !== LETTER_X) return FIELD.other;
  if (isCertificateAlias(text, start, end)) return FIELD.clientCertificate;
  return isForwardingAlias(text, start, end) ? FIELD.xForwardedOther : FIELD.other;
}

const LETTER_C = 0x63;
const LETTER_X = 0x78;
const DASH = 0x2d;
const UNDERSCORE = 0x5f;
const FORWARDED_PREFIX = 'x-forwarded-';
const ALIASED: readonly string[] = ['x-real-ip', 'x-request-id'];
const CERTIFICATE_NAMES: readonly string[] = ['client-cert', 'client-cert-chain'];
const OWN_CERTIFICATE_NAMES: readonly string[] = ['x-client-cert'];
const CERTIFICATE_PREFIX = 'x-client-cert-';

/**
 * Whether a name claims to say where a request came from: many servers read an underscore as a dash, and trust fields
 * that begin so.
 */
function isForwardingAlias(text: string, start: number, end: number): boolean {
  if (beginsWith(text, start, end, FORWARDED_PREFIX)) return true;
  return isOneOf(ALIASED, text, start, end);
}

/** Whether a name claims to tell of a client's certificate. */
function isCertificateAlias(text: string, start: number, end: number): boolean {
  return beginsWith(text, start, end, CERTIFICATE_PREFIX) || isOneOf(OWN_CERTIFICATE_NAMES, text, start, end);
}

function isOneOf(names: readonly string[], text: string, start: number, end: number): boolean {
  for (const name of names) if (name.length === end - start && isAlias(text, start, name)) return true;
  return false;
}

function beginsWith(text: string, start: number, end: number, prefix: string): boolean {
  return end - start >= prefix.length && isAlias(text, start, prefix);
}

function isAlias(text: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const octet = text.charCodeAt(start + at);
    const wanted = name.charCodeAt(at);
    const isSame =
      wanted === DASH ? octet === DASH || octet === UNDERSCORE : (octet | 0x20) === wanted && octet > UNDERSCORE - 0x20;
    if (!isSame) return false;
  }
  return true;
}

/** Whether `text` has at `start` the letters of `name`, which is in lower case and of token octets. */
export function equalsIgnoringCase(text: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const octet = text.charCodeAt(start + at);
    const wanted = name.charCodeAt(at);
    // Setting the bit makes a letter lower case, but makes other octets others: `_` and `^` are their own only form.
    if (octet !== wanted && ((octet | 0x20) !== wanted || wanted < 0x61 || wanted > 0x7a)) return false;
  }
  return true;
}

function byLength(names: readonly (readonly [string, number])[]): (readonly [string, number])[][] {
  const table: (readonly [string, number])[][] = [];
  for (const entry of names) {
    const sameLength = table[entry[0].length] ?? [];
    sameLength.push(entry);
    table[entry[0].length] = sameLength;
  }
  return table;
}

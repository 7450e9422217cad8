// The path that routes are matched by: percent-encoded unreserved characters decoded, dot segments removed.

const SLASH = 0x2f;
const DOT = 0x2e;

/**
 * The path of a request target (origin form; what follows `?` is left off) in the form in which routes are matched:
 * RFC 3986 sections 6.2.2.2 and 6.2.2.3. Other percent-encodings stay as sent, an encoded slash too. undefined when
 * a `%` is not followed by two hexadecimal digits or the target does not begin with a slash.
 */
export function normalisePath(target: string): string | undefined {
  if (target.charCodeAt(0) !== SLASH) return undefined;
  const path = withoutQuery(target);
  const decoded = path.includes('%') ? decodeUnreserved(path) : path;
  if (decoded === undefined || !decoded.includes('/.')) return decoded;
  return removeDotSegments(decoded);
}

/**
 * A path as lenient services read it: encoded and backward slashes are slashes, several are one, parameters (`;…`) are cut
 * off, dot segments removed. The same text where there is nothing of these.
 */
export function lenientPath(path: string): string {
  if (!/\/\/|[;\\]|%(?:2f|5c|3b)/i.test(path)) return path;
  const plain = path.replaceAll(/%2f|%5c|\\/gi, '/').replaceAll(/(?:;|%3b)[^/]*/gi, '');
  return removeDotSegments(plain.replaceAll(/\/{2,}/g, '/'));
}

/**
 * The path that lenient services make of a target, as `normalisePath` gives paths; null when they read what was sent. A
 * dot segment that follows an empty one leads elsewhere once the empty one is gone: so it is read as it was sent.
 */
export function lenientReading(target: string): string | null {
  const sent = withoutQuery(target);
  const lenient = lenientPath(sent);
  return lenient === sent ? null : (normalisePath(lenient) ?? lenient);
}

/** What stands before the `?` of a target. */
export function withoutQuery(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

function decodeUnreserved(path: string): string | undefined {
  let decoded = '';
  let from = 0;
  for (let at = path.indexOf('%'); at !== -1; at = path.indexOf('%', at + 3)) {
    const high = hexDigit(path.charCodeAt(at + 1));
    const low = hexDigit(path.charCodeAt(at + 2));
    if (high === -1 || low === -1) return undefined;
    const octet = high * 16 + low;
    if (!isUnreserved(octet)) continue;
    decoded += path.slice(from, at) + String.fromCharCode(octet);
    from = at + 3;
  }
  return decoded + path.slice(from);
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function isUnreserved(octet: number): boolean {
  const lower = octet | 0x20;
  return (
    (lower >= 0x61 && lower <= 0x7a && octet >= 0x41) ||
    (octet >= 0x30 && octet <= 0x39) ||
    octet === 0x2d ||
    octet === DOT ||
    octet === 0x5f ||
    octet === 0x7e
  );
}

/** RFC 3986 section 5.2.4 for a path that begins with a slash. */
function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/');
  segments.shift();
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    if (isLast && (segment === '.' || segment === '..')) kept.push('');
  }
  return `/${kept.join('/')}`;
}

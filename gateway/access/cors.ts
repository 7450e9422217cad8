// Which pages of other origins may read the answers of a route: the CORS protocol of the Fetch standard.
import type { CorsRules } from './access-rules.ts';

/** What the CORS protocol needs to see of a request. */
export interface CorsRequest {
  readonly method: string;
  header(name: string): string | undefined;
}

export interface Cors {
  /** Lower-case names of response fields that are taken out of what the service answers. */
  readonly dropResponseFields: ReadonlySet<string>;
  /**
   * The lines for any answer to a request with that Origin (undefined: without one), also for Weir's own and for those to
   * preflights. An origin that is not allowed gets nothing but `Vary`: that is how browsers are told no.
   */
  linesFor(origin: string | undefined): string;
  /** The further lines of the answer to a preflight, '' for an origin that is not allowed; null when it is none. */
  preflightLines(request: CorsRequest): string | null;
}

const DROPPED: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-allow-private-network',
  'access-control-expose-headers',
  'access-control-max-age',
]);

/** `https://*.example.com` as what stands before and behind the `*`. */
interface Wildcard {
  readonly before: string;
  readonly behind: string;
}

const VARY = 'Vary: Origin\r\n';
const PREFLIGHT_VARY = 'Vary: Access-Control-Request-Method, Access-Control-Request-Headers\r\n';

/** Prepares the rules of a route. */
export function prepareCors(rules: CorsRules): Cors {
  const isForAll = rules.origins.includes('*');
  const exact = new Map<string, string>();
  const wildcards: Wildcard[] = [];
  const behindOrigin = linesBehindOrigin(rules);
  for (const origin of rules.origins) {
    const star = origin.indexOf('*');
    if (star === -1) exact.set(origin, allowing(origin, behindOrigin));
    else if (origin !== '*') wildcards.push({ before: origin.slice(0, star), behind: origin.slice(star + 1) });
  }
  const forAll = allowing('*', behindOrigin);
  const preflight = preparePreflight(rules);

  function linesFor(origin: string | undefined): string {
    if (origin === undefined) return VARY;
    if (isForAll) return forAll;
    const prepared = exact.get(origin);
    if (prepared !== undefined) return prepared;
    return isWithinAny(origin, wildcards) ? allowing(origin, behindOrigin) : VARY;
  }

  return {
    dropResponseFields: DROPPED,
    linesFor,
    preflightLines(request) {
      if (request.method !== 'OPTIONS') return null;
      const origin = request.header('origin');
      const method = request.header('access-control-request-method');
      if (origin === undefined || method === undefined) return null;
      if (linesFor(origin) === VARY) return PREFLIGHT_VARY;
      return preflight(method, request.header('access-control-request-headers'));
    },
  };
}

function allowing(origin: string, behind: string): string {
  return `Access-Control-Allow-Origin: ${origin}\r\n${behind}`;
}

function linesBehindOrigin({ credentials, exposeHeaders }: CorsRules): string {
  const exposed = exposeHeaders.length === 0 ? '' : `Access-Control-Expose-Headers: ${exposeHeaders.join(', ')}\r\n`;
  return `${credentials ? 'Access-Control-Allow-Credentials: true\r\n' : ''}${exposed}${VARY}`;
}

/**
 * With credentials a `*` in an answer is a name like any other, so what a rule with `*` allows is what was asked for: a
 * valid field value, as it was read from a field.
 */
function preparePreflight({ methods, requestHeaders, maxAgeMs }: CorsRules) {
  const maxAge = `Access-Control-Max-Age: ${Math.floor(maxAgeMs / 1000)}\r\n${PREFLIGHT_VARY}`;
  const methodsLine = line('Access-Control-Allow-Methods', methods.join(', '));
  const headersLine = line('Access-Control-Allow-Headers', requestHeaders.join(', '));
  const [isAnyMethod, isAnyHeader] = [methods.includes('*'), requestHeaders.includes('*')];
  return (method: string, wanted: string | undefined): string => {
    const ofMethods = isAnyMethod ? line('Access-Control-Allow-Methods', method) : methodsLine;
    const ofHeaders = isAnyHeader ? line('Access-Control-Allow-Headers', wanted ?? '') : headersLine;
    return ofMethods + ofHeaders + maxAge;
  };
}

function line(name: string, value: string): string {
  return value === '' ? '' : `${name}: ${value}\r\n`;
}

function isWithinAny(origin: string, wildcards: readonly Wildcard[]): boolean {
  for (const wildcard of wildcards) if (isWithin(origin, wildcard)) return true;
  return false;
}

/** Whether what stands for the `*` is a part of a host name: `https://evil.test/.example.com` is no origin below it. */
function isWithin(origin: string, { before, behind }: Wildcard): boolean {
  const end = origin.length - behind.length;
  if (end <= before.length || !origin.startsWith(before) || !origin.endsWith(behind)) return false;
  for (let at = before.length; at < end; at++) if (!isHostOctet(origin.charCodeAt(at))) return false;
  return origin.charCodeAt(before.length) !== DOT;
}

const DOT = 0x2e;

function isHostOctet(octet: number): boolean {
  const isDigit = octet >= 0x30 && octet <= 0x39;
  const isLetter = octet >= 0x61 && octet <= 0x7a;
  return isDigit || isLetter || octet === DOT || octet === 0x2d || octet === 0x5f;
}

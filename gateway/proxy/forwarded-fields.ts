// Which field lines cross the gateway: hop-by-hop fields end here, forwarding fields are made anew (SPEC 3.2 and 3.7).
import type { ConnectionOptions } from '../http1/connection-options.ts';
import { FIELD } from '../http1/field-id.ts';
import type { FieldTable } from '../http1/field-table.ts';

/** What a route changes in one direction; prepared once. */
export interface FieldRewrite {
  /** Lower-case names that are dropped, those of `set` included; null when there are none. */
  readonly drop: ReadonlySet<string> | null;
  /** Field lines that are added, each with its CRLF. */
  readonly lines: string;
}

/** Prepares `rewrite.requestHeaders` or `rewrite.responseHeaders`; `dropped` are lower-case names to drop besides. */
export function prepareFieldRewrite(
  rewrite: { readonly set: Readonly<Record<string, string>>; readonly remove: readonly string[] },
  dropped: Iterable<string> = [],
): FieldRewrite {
  const names = [...Object.keys(rewrite.set), ...rewrite.remove, ...dropped];
  const lines = Object.entries(rewrite.set).map(([name, value]) => `${name}: ${value}\r\n`);
  return { drop: names.length === 0 ? null : new Set(names.map((name) => name.toLowerCase())), lines: lines.join('') };
}

/** What Weir says of the request it passes on. */
export interface Forwarding {
  readonly peerAddress: string;
  readonly isTrusted: boolean;
  readonly requestId: string;
  /** Whether the client speaks HTTP/2. */
  readonly isHttp2: boolean;
  readonly proto: 'http' | 'https';
  /** As the client wrote it. */
  readonly host: string;
  /** The last forwarding line, which is the same for every request of a listener. */
  readonly portLine: string;
  /** Who the client's certificate says it is; undefined where the listener asks for none. */
  readonly identityLines: string | undefined;
  /** Whether each attempt says anew where in a trace it stands; if not, what the client says passes. */
  readonly isTraced: boolean;
}

/** What becomes of a field. */
const PASS = 0;
const DROP = 1;
/** Dropped from an untrusted peer, kept from a trusted one. */
const CLAIM = 2;

const REQUEST_FATE: Uint8Array = requestFates(CLAIM, PASS);
const TRACED_REQUEST_FATE: Uint8Array = requestFates(CLAIM, DROP);

/** Where the listener asks for certificates, its own word counts, whoever the peer is. */
const IDENTIFIED_REQUEST_FATE: Uint8Array = requestFates(DROP, PASS);
const TRACED_IDENTIFIED_REQUEST_FATE: Uint8Array = requestFates(DROP, DROP);

const RESPONSE_FATE: Uint8Array = fates({
  drop: [
    FIELD.connection,
    FIELD.transferEncoding,
    FIELD.te,
    FIELD.upgrade,
    FIELD.keepAlive,
    FIELD.proxyConnection,
    FIELD.http2Settings,
  ],
  claim: [],
});

/** Fields that a Connection field cannot take out: the message would lose its framing or its meaning. */
const IS_NOMINABLE: Uint8Array = Uint8Array.from({ length: 32 }, (_, id) =>
  id === FIELD.contentLength || id === FIELD.expect || id === FIELD.trailer ? 0 : 1,
);

/** Names that carry who the sender is; naming them in Connection must not take them out either. */
const NEVER_NOMINABLE: ReadonlySet<string> = new Set(['authorization', 'cookie', 'content-type', 'content-encoding']);

/** The field lines of the request that goes upstream, but for Host and the chunked coding, which each attempt adds. */
export function requestLines(
  received: { readonly fields: FieldTable; readonly options: ConnectionOptions },
  forwarding: Forwarding,
  rewrite: FieldRewrite,
): string {
  const { fields, options } = received;
  const { isTrusted, peerAddress, identityLines } = forwarding;
  const fate = requestFate(identityLines !== undefined, forwarding.isTraced);
  let lines = keptLines(fields, { fate, keepsClaims: isTrusted, nominated: options.nominated, rewrite });
  if (identityLines !== undefined) lines += identityLines;
  if (isTrusted) {
    const forwardedFor = fields.get('x-forwarded-for');
    lines += `X-Forwarded-For: ${forwardedFor === undefined ? '' : `${forwardedFor}, `}${peerAddress}\r\n`;
    if (fields.find(FIELD.xForwardedProto) === -1) lines += `X-Forwarded-Proto: ${forwarding.proto}\r\n`;
    if (fields.find(FIELD.xForwardedHost) === -1) lines += `X-Forwarded-Host: ${forwarding.host}\r\n`;
    if (fields.find(FIELD.xForwardedPort) === -1) lines += forwarding.portLine;
  } else {
    lines += `X-Forwarded-For: ${peerAddress}\r\nX-Forwarded-Proto: ${forwarding.proto}\r\nX-Forwarded-Host: ${forwarding.host}\r\n${forwarding.portLine}`;
  }
  const via = forwarding.isHttp2 ? 'Via: 2.0 weir\r\n' : 'Via: 1.1 weir\r\n';
  return `${lines}X-Request-Id: ${forwarding.requestId}\r\n${via}${rewrite.lines}`;
}

function requestFate(isIdentified: boolean, isTraced: boolean): Uint8Array {
  if (isTraced) return isIdentified ? TRACED_IDENTIFIED_REQUEST_FATE : TRACED_REQUEST_FATE;
  return isIdentified ? IDENTIFIED_REQUEST_FATE : REQUEST_FATE;
}

/** The field lines of a response that go to the client, but for the chunked coding. */
export function responseLines(
  fields: FieldTable,
  nominated: ReadonlySet<string> | null,
  rewrite: FieldRewrite,
): string {
  return keptLines(fields, { fate: RESPONSE_FATE, keepsClaims: true, nominated, rewrite }) + rewrite.lines;
}

/** Fields that mean something before the content or not at all (RFC 9110 section 6.5.1). */
const NO_TRAILERS: ReadonlySet<string> = new Set([
  ...[
    'authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'www-authenticate',
    'age',
    'cache-control',
    'expires',
  ],
  ...['location', 'retry-after', 'vary', 'warning', 'max-forwards', 'range', 'pragma', 'idempotency-key'],
]);

/** The trailer field lines that may cross: none that frame, route, authenticate or describe, nor those of `drop`. */
export function trailerLines(trailers: FieldTable | undefined, drop: ReadonlySet<string> | null): string {
  if (trailers === undefined) return '';
  let lines = '';
  for (let field = 0; field < trailers.count; field++) {
    const name = trailers.name(field).toLowerCase();
    const isRefused = NO_TRAILERS.has(name) || name.startsWith('content-') || drop?.has(name) === true;
    const id = trailers.id(field);
    const isKnown = id !== FIELD.other && id !== FIELD.traceparent && id !== FIELD.tracestate;
    if (!isKnown && !isRefused) lines += trailers.lines(field, field + 1);
  }
  return lines;
}

interface Selection {
  readonly fate: Uint8Array;
  readonly keepsClaims: boolean;
  readonly nominated: ReadonlySet<string> | null;
  readonly rewrite: FieldRewrite;
}

/** Copies runs of lines that stand next to each other as one piece. */
function keptLines(fields: FieldTable, { fate, keepsClaims, nominated, rewrite }: Selection): string {
  let lines = '';
  let runStart = 0;
  for (let field = 0; field < fields.count; field++) {
    const id = fields.id(field);
    const isDropped =
      fate[id] === DROP ||
      (fate[id] === CLAIM && !keepsClaims) ||
      ((nominated !== null || rewrite.drop !== null) && isNamedAway(fields, field, nominated, rewrite.drop));
    if (!isDropped) continue;
    lines += fields.lines(runStart, field);
    runStart = field + 1;
  }
  return lines + fields.lines(runStart, fields.count);
}

function isNamedAway(
  fields: FieldTable,
  field: number,
  nominated: ReadonlySet<string> | null,
  drop: ReadonlySet<string> | null,
): boolean {
  const name = fields.name(field).toLowerCase();
  if (drop?.has(name) === true) return true;
  return nominated?.has(name) === true && IS_NOMINABLE[fields.id(field)] === 1 && !NEVER_NOMINABLE.has(name);
}

function requestFates(ofIdentity: number, ofTrace: number): Uint8Array {
  const table = fates({
    drop: [
      FIELD.host,
      FIELD.connection,
      FIELD.transferEncoding,
      FIELD.te,
      FIELD.upgrade,
      FIELD.keepAlive,
      FIELD.proxyConnection,
      FIELD.http2Settings,
      FIELD.xForwardedFor,
      FIELD.xRequestId,
    ],
    claim: [
      FIELD.xForwardedProto,
      FIELD.xForwardedHost,
      FIELD.xForwardedPort,
      FIELD.xForwardedServer,
      FIELD.xForwardedPrefix,
      FIELD.xForwardedOther,
      FIELD.forwarded,
      FIELD.xRealIp,
    ],
  });
  table[FIELD.clientCertificate] = ofIdentity;
  table[FIELD.traceparent] = ofTrace;
  table[FIELD.tracestate] = ofTrace;
  return table;
}

function fates(of: { drop: readonly number[]; claim: readonly number[] }): Uint8Array {
  const table = new Uint8Array(32).fill(PASS);
  for (const id of of.drop) table[id] = DROP;
  for (const id of of.claim) table[id] = CLAIM;
  return table;
}

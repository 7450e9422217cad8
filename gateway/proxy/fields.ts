// Which fields cross the gateway: hop-by-hop fields end here, forwarding fields are made anew (SPEC 3.2 and 3.7).
import type { RawFields } from './exchange.ts';

/** Fields of one connection (RFC 9110 section 7.6.1), and those that only the codec of each side may write. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Names that a Connection field cannot take out: the message would lose its framing or its address. */
const NOT_NOMINABLE: ReadonlySet<string> = new Set(['host', 'content-length', 'content-type', 'trailer']);

/** Received forwarding fields; dropped when the peer is not trusted. */
const FORWARDING: ReadonlySet<string> = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-forwarded-prefix',
  'forwarded',
  'x-real-ip',
  'x-request-id',
]);

/** What a route changes in one direction; prepared once. */
export interface FieldRewrite {
  /** Lower-case names that are dropped, those of `set` included. */
  readonly drop: ReadonlySet<string>;
  /** Flat list of fields that are added. */
  readonly set: RawFields;
}

/** Prepares `rewrite.requestHeaders` or `rewrite.responseHeaders`. */
export function prepareFieldRewrite(rewrite: {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}): FieldRewrite {
  const names = [...Object.keys(rewrite.set), ...rewrite.remove];
  return { drop: new Set(names.map((name) => name.toLowerCase())), set: Object.entries(rewrite.set).flat() };
}

/** What Weir says of the request it passes on. */
export interface Forwarding {
  readonly peerAddress: string;
  readonly isTrusted: boolean;
  readonly requestId: string;
  readonly proto: 'http' | 'https';
  /** As the client wrote it. */
  readonly host: string;
  readonly port: string;
}

/** The fields of the request that goes upstream, but for Host, which each attempt writes first. */
export function requestFields(received: RawFields, forwarding: Forwarding, rewrite: FieldRewrite): string[] {
  const nominated = nominatedBy(received);
  const kept: string[] = [];
  const seen = { for: '', proto: false, host: false, port: false };
  for (let at = 0; at < received.length; at += 2) {
    const name = received[at] ?? '';
    const value = received[at + 1] ?? '';
    const lower = name.toLowerCase();
    // Node and undici carry no request trailers, so none may be announced.
    if (HOP_BY_HOP.has(lower) || lower === 'host' || lower === 'expect' || lower === 'trailer') continue;
    if (nominated.includes(lower) || rewrite.drop.has(lower)) continue;
    if (FORWARDING.has(lower)) {
      if (!forwarding.isTrusted || lower === 'x-request-id') continue;
      if (lower === 'x-forwarded-for') {
        seen.for = seen.for === '' ? value : `${seen.for}, ${value}`;
        continue;
      }
      if (lower === 'x-forwarded-proto') seen.proto = true;
      else if (lower === 'x-forwarded-host') seen.host = true;
      else if (lower === 'x-forwarded-port') seen.port = true;
    }
    kept.push(name, value);
  }
  const { peerAddress } = forwarding;
  kept.push('X-Forwarded-For', seen.for === '' ? peerAddress : `${seen.for}, ${peerAddress}`);
  if (!seen.proto) kept.push('X-Forwarded-Proto', forwarding.proto);
  if (!seen.host) kept.push('X-Forwarded-Host', forwarding.host);
  if (!seen.port) kept.push('X-Forwarded-Port', forwarding.port);
  kept.push('X-Request-Id', forwarding.requestId, 'Via', '1.1 weir', ...rewrite.set);
  return kept;
}

/** The fields of a response that go to the client. */
export function responseFields(received: RawFields, rewrite: FieldRewrite): string[] {
  const nominated = nominatedBy(received);
  const kept: string[] = [];
  for (let at = 0; at < received.length; at += 2) {
    const name = received[at] ?? '';
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || nominated.includes(lower) || rewrite.drop.has(lower)) continue;
    kept.push(name, received[at + 1] ?? '');
  }
  kept.push(...rewrite.set);
  return kept;
}

/** The lower-case names that the Connection fields of a message nominate as its own connection's. */
function nominatedBy(fields: RawFields): readonly string[] {
  let nominated: string[] | undefined;
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    nominated ??= [];
    for (const token of (fields[at + 1] ?? '').split(',')) {
      const lower = token.trim().toLowerCase();
      if (!NOT_NOMINABLE.has(lower)) nominated.push(lower);
    }
  }
  return nominated ?? [];
}

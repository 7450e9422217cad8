// The request that somebody asks about, read as the door would read it.
import { isIP } from 'node:net';
import type { GatewayConfig } from '../../config/gateway-schema.ts';
import type { ErrorSituation } from '../../core/errors.ts';
import { quote } from '../../core/quote.ts';
import { connectionOptions } from '../../http1/connection-options.ts';
import { RequestHead } from '../../http1/request-head.ts';
import { wantsWebSocket } from '../../http1/request-wishes.ts';
import { situationOf } from '../answers.ts';
import { describePeer, type TrustCheck } from '../client-address.ts';
import type { RequestDescription } from '../exchange.ts';
import { requestAddress } from '../front/request-line.ts';

/** A request in words. */
export interface AskedRequest {
  readonly method: string;
  /** `http://host/path?query`, or the target alone, and then a Host among the headers. */
  readonly url: string;
  /** Each `name: value`; several of one name may be. */
  readonly headers: readonly string[];
  /** The address at the other end of the connection; null for one that nobody named. */
  readonly client: string | null;
}

/** What the door makes of it. */
export interface ReadRequest extends RequestDescription {
  /** Octets of content that it announces; null when their number is not announced. */
  readonly announcedBytes: number | null;
  /** Whether it asks to become a WebSocket. */
  readonly isUpgrade: boolean;
}

/** What the door refuses it for, with the rule that it breaks. */
export interface RefusedRequest {
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly situation: ErrorSituation;
  readonly why: string;
}

/** The client of a request of which nobody said whose it is. */
export const ASSUMED_CLIENT = '127.0.0.1';

const LINE_BREAK = /[\r\n\0]/;
const WHOLE_URL = /^(https?):\/\/([^/?#]*)([^#]*)/i;

/** The request, or what it is refused for; a sentence when the question itself makes no sense. */
export function readAsked(
  asked: AskedRequest,
  limits: GatewayConfig['limits'],
  isTrusted: TrustCheck,
): ReadRequest | RefusedRequest | string {
  const wrong = faultIn(asked);
  if (wrong !== null) return wrong;
  const place = placeOf(asked);
  if (typeof place === 'string') return place;
  const { method } = asked;
  const text = latin1(`${method} ${place.target} HTTP/1.1\r\n${place.lines.join('')}\r\n`);
  const head = new RequestHead({
    firstLineBytes: limits.requestLineBytes,
    fieldsBytes: limits.headersBytes,
    fieldCount: limits.headerCount,
  });
  const broken = head.parse(text, text.length);
  if (broken !== null) return { method, ...place, situation: situationOf(broken), why: broken };
  if (method === 'CONNECT') return { method, ...place, situation: 'method_not_allowed', why: 'CONNECT is not served' };
  const address = requestAddress(head.target, head.host, false);
  if (address === undefined) return { method, ...place, situation: 'bad_request', why: 'malformed host or target' };
  const { framing, fields } = head;
  return {
    method,
    ...address,
    fields,
    peer: describePeer(asked.client ?? ASSUMED_CLIENT, isTrusted),
    header: (name) => fields.get(name),
    announcedBytes: framing.kind === 'length' ? framing.length : framing.kind === 'none' ? 0 : null,
    isUpgrade: framing.kind === 'none' && connectionOptions(fields, head.minor).isUpgrade && wantsWebSocket(head),
  };
}

function faultIn({ method, url, headers, client }: AskedRequest): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method)) return `${quote(method)} is no method`;
  if (client !== null && isIP(client) === 0) return `the client must be an IP address, not ${quote(client)}`;
  if (LINE_BREAK.test(url)) return 'the URL has a line break';
  for (const header of headers) {
    if (header.indexOf(':') < 1 || LINE_BREAK.test(header)) return `a header is "name: value", not ${quote(header)}`;
  }
  return null;
}

/** What a URL says of the way to a listener. */
export interface AskedUrl {
  /** null for a path alone. */
  readonly scheme: 'http' | 'https' | null;
  /** The name for which a client asks when TLS begins; '' for an IP address and for none. */
  readonly serverName: string;
  /** That of the scheme where the URL has none; null for a path alone. */
  readonly port: number | null;
}

const DEFAULT_PORTS = { http: 80, https: 443 };

/** Reads the place of a request that `readAsked` has read; a path alone has that of its Host field, and no scheme. */
export function askedUrl({ url }: Pick<AskedRequest, 'url'>, host: string): AskedUrl {
  const [, given, authority = host] = WHOLE_URL.exec(url) ?? [];
  const scheme = given === undefined ? null : given.toLowerCase() === 'https' ? 'https' : 'http';
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(authority) ?? [];
  const isName = isIP(name) === 0 && !name.startsWith('[');
  const standard = scheme === null ? null : DEFAULT_PORTS[scheme];
  return { scheme, serverName: isName ? name : '', port: digits === undefined ? standard : Number(digits) };
}

/** Where it goes, and its field lines; a Host among the headers counts before that of the URL. */
function placeOf({ url, headers }: AskedRequest): { host: string; target: string; lines: string[] } | string {
  const [, , authority, rest] = WHOLE_URL.exec(url) ?? [];
  const isBare = authority === undefined || rest === undefined;
  if (isBare && !url.startsWith('/') && url !== '*') return `the URL must begin with http:// or /, not ${quote(url)}`;
  if (authority?.includes('@') === true) return 'the URL has a user in front of its host, which clients do not send';
  const target = isBare ? url.replace(/#.*$/s, '') : rest.startsWith('/') ? rest : `/${rest}`;
  const named = headers.find((header) => /^host:/i.test(header));
  const host = named === undefined ? authority : named.slice('host:'.length).trim();
  if (host === undefined) return 'a path alone does not say which host: give a whole URL, or a Host header';
  const lines = headers.map((header) => `${header}\r\n`);
  return { host, target, lines: named === undefined ? [`Host: ${host}\r\n`, ...lines] : lines };
}

/** Text of a request as people write it, from the form in which the door reads it. */
export function asWritten(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

/** Text as the octets that a client would send, in the form in which the door reads them. */
function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

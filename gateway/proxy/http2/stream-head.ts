// The head of a request on a stream, read by the same parser and held to the same rules as one of HTTP/1.1.
import { randomBytes } from 'node:crypto';
import type { ErrorSituation } from '../../core/errors.ts';
import { FIELD } from '../../http1/field-id.ts';
import type { RequestHead } from '../../http1/request-head.ts';
import { situationOf } from '../answers.ts';
import { requestAddress } from '../front/request-line.ts';

/** What nghttp2 has checked already: every pseudo-field at most once, before all others, lower-case names. */
interface ListedHead {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  /** Field lines without Host, and how many they are. */
  readonly lines: string;
  readonly lineCount: number;
  /** Whether it asks for a WebSocket (RFC 8441). */
  readonly isTunnel: boolean;
}

/**
 * Reads the names and values of a header list (RFC 9113 section 8.3) into `head`, and returns why it is refused; null when
 * it is good. Cookie fields become one. `goodHost` is a host that was found good before. An extended CONNECT for a WebSocket
 * is 'tunnel' instead of null, and reads as the GET of HTTP/1.1 that asks for the upgrade.
 */
export function readStreamHead(
  list: readonly string[],
  head: RequestHead,
  goodHost: string,
): ErrorSituation | 'tunnel' | null {
  const listed = readList(list);
  if (typeof listed === 'string') return listed;
  const { method, target, host, lines, lineCount, isTunnel } = listed;
  const text = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${lines}\r\n`;
  const broken = head.parse(text, text.length);
  if (broken !== null) return situationOf(broken);
  // More lines than fields: a value had a line end.
  if (head.fields.count !== lineCount + 1) return 'bad_request';
  // It says how the content of HTTP/1.1 ends, which is not how this one does.
  if (head.fields.find(FIELD.transferEncoding) !== -1) return 'bad_request';
  if (target !== '*' && target.charCodeAt(0) !== 0x2f) return 'bad_request';
  const isGoodHost = (host !== '' && host === goodHost) || requestAddress(target, host, false) !== undefined;
  // What follows in a tunnel is no content.
  if (!isGoodHost || (isTunnel && head.framing.kind !== 'none')) return 'bad_request';
  return isTunnel ? 'tunnel' : null;
}

function readList(list: readonly string[]): ListedHead | ErrorSituation {
  let method = '';
  let protocol = '';
  let scheme = '';
  let target = '';
  let authority: string | undefined;
  let host: string | undefined;
  let cookie = '';
  let lines = '';
  let lineCount = 0;
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? '';
    const value = list[at + 1] ?? '';
    if (name === ':method') method = value;
    else if (name === ':scheme') scheme = value;
    else if (name === ':protocol') protocol = value;
    else if (name === ':path') target = value;
    else if (name === ':authority') authority = value;
    else if (name === 'host') host = value;
    else if (name === 'sec-websocket-key' && protocol !== '') continue;
    else if (name === 'cookie') cookie = cookie === '' ? value : `${cookie}; ${value}`;
    else {
      lines += `${name}: ${value}\r\n`;
      lineCount++;
    }
  }
  const isTunnel = protocol !== '';
  if (isTunnel !== (method === 'CONNECT')) return isTunnel ? 'bad_request' : 'method_not_allowed';
  // As RFC 9220 section 3 has it for a protocol that is not known.
  if (isTunnel && protocol.toLowerCase() !== 'websocket') return 'not_implemented';
  if (scheme !== 'https' && scheme !== 'http') return 'bad_request';
  // Two names for the server: whoever reads the other one would see another request (RFC 9113 section 8.3.1).
  if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) {
    return 'bad_request';
  }
  if (cookie !== '') {
    lines += `cookie: ${cookie}\r\n`;
    lineCount++;
  }
  if (isTunnel) {
    lines += `connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n`;
    lineCount += 3;
  }
  return { method: isTunnel ? 'GET' : method, target, host: authority ?? host ?? '', lines, lineCount, isTunnel };
}

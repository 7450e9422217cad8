// Field lines of an answer as node:http2 takes them: a flat list, or an object where it takes nothing else.
import type { OutgoingHttpHeaders } from 'node:http2';
import { trimBlanks } from '../../http1/octets.ts';
import type { AnswerHead } from '../exchange.ts';
import type { ConnectionHost } from '../front/connection-host.ts';
import { withHsts } from '../front/hsts.ts';

/** The greatest status that there is (RFC 9110 section 15); node:http2 sends no other. */
const MAX_STATUS = 599;

/** The head of an answer, with the fields of the listener. */
export function answerFields(
  { status, lines, hasDate }: Pick<AnswerHead, 'status' | 'lines' | 'hasDate'>,
  { date, hstsLine }: Pick<ConnectionHost, 'date' | 'hstsLine'>,
): string[] {
  const list = [':status', String(status > MAX_STATUS ? 502 : status)];
  // A recipient with a clock adds what an origin without one left out (RFC 9110 section 6.6.1).
  if (!hasDate) list.push('date', date.value);
  appendFields(list, hstsLine === '' ? lines : withHsts(lines, hstsLine));
  // These have no content, and a length that says otherwise is an error to clients (RFC 9113 section 8.1.1).
  return status === 204 || status === 205 ? withoutLength(list) : list;
}

/** Appends the names and values of `lines`, each of which ends in a CRLF; node:http2 makes the names lower-case. */
export function appendFields(list: string[], lines: string): void {
  let at = 0;
  while (at < lines.length) {
    const colon = lines.indexOf(':', at);
    const end = lines.indexOf('\r\n', colon);
    if (colon === -1 || end === -1) return;
    list.push(lines.substring(at, colon), trimBlanks(lines.substring(colon + 1, end)));
    at = end + 2;
  }
}

/** The fields of `lines` by their lower-case names; those of one name in their order. */
export function fieldsByName(lines: string): OutgoingHttpHeaders {
  const list: string[] = [];
  appendFields(list, lines);
  const fields: Record<string, string[]> = Object.create(null);
  for (let at = 0; at < list.length; at += 2) {
    const name = (list[at] ?? '').toLowerCase();
    const values = fields[name] ?? [];
    values.push(list[at + 1] ?? '');
    fields[name] = values;
  }
  return fields;
}

function withoutLength(list: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < list.length; at += 2) {
    const [name = '', value = ''] = [list[at], list[at + 1]];
    if (name.toLowerCase() !== 'content-length') kept.push(name, value);
  }
  return kept;
}

// Field lines of an answer as node:http2 takes them: a flat list, or an object where it takes nothing else.
import type { OutgoingHttpHeaders } from 'node:http2';
import { trimBlanks } from '../../http1/octets.ts';

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

// Strict-Transport-Security (RFC 6797): the listener's word takes the place of the service's.
import { equalsIgnoringCase } from '../../http1/field-id.ts';

const NAME = 'strict-transport-security';
const COLON = 0x3a;

/** The field line of a listener, with its CRLF; '' for none. `value` is as the configuration gives it. */
export function hstsLineOf(value: string | null): string {
  return value === null ? '' : `Strict-Transport-Security: ${value}\r\n`;
}

/** The field lines of an answer with `line` in place of any such field of the service's; unchanged when it is ''. */
export function withHsts(lines: string, line: string): string {
  if (line === '') return lines;
  let kept = '';
  let from = 0;
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf('\r\n', start) + 2;
    if (lines.charCodeAt(start + NAME.length) === COLON && equalsIgnoringCase(lines, start, NAME)) {
      kept += lines.slice(from, start);
      from = end;
    }
    if (end < 2) break;
    start = end;
  }
  return kept + lines.slice(from) + line;
}

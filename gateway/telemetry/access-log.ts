// The access log: one line for each request, as JSON or in the combined format of web servers.
import type { DestinationStream, Logger } from 'pino';
import type { AccessRecord } from '../core/access-record.ts';

export interface AccessLogOptions {
  readonly format: 'json' | 'combined';
  readonly logger: Logger;
  /** Where the lines of the combined format go, past the logger. */
  readonly output: DestinationStream;
}

/** Longer client text is cut: a line stays readable whatever a client sends. */
const LONGEST_TEXT = 1024;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Gives what takes the record of every request. Neither format lets client text break out of its line. */
export function accessLog({ format, logger, output }: AccessLogOptions): (record: AccessRecord) => void {
  if (format === 'combined') return (record) => output.write(combinedLine(record, new Date()));
  // A logger of its own: `log.level` is about messages, the access log has its own switch.
  const lines = logger.child({ kind: 'access' }, { level: 'info' });
  return (record) => {
    lines.info({
      ...record,
      user: record.user === null ? null : cut(record.user),
      method: cut(record.method),
      host: cut(record.host),
      path: cut(record.path),
      userAgent: record.userAgent === null ? null : cut(record.userAgent),
      durationMs: Math.round(record.durationMs * 1000) / 1000,
    });
  };
}

/**
 * A line of the combined format of Apache and nginx, in UTC. The target is without its query and the referrer is `-`:
 * neither is logged, since both carry secrets now and then.
 */
export function combinedLine(record: AccessRecord, now: Date): string {
  const { client, method, path, version, status, bytes, userAgent } = record;
  // A space would end the field.
  const user = record.user === null ? '-' : escaped(cut(record.user)).replaceAll(' ', '\\x20');
  const request = method === '' ? '-' : `${escaped(cut(method))} ${escaped(cut(path))} HTTP/${version}`;
  const agent = userAgent === null ? '-' : escaped(cut(userAgent));
  const answer = `${status === 0 ? 499 : status} ${bytes}`;
  return `${client} - ${user} [${timeOf(now)}] "${request}" ${answer} "-" "${agent}"\n`;
}

function timeOf(now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  const [year, , day] = date.split('-');
  return `${day}/${MONTHS[now.getUTCMonth()]}/${year}:${time.slice(0, 8)} +0000`;
}

/** As nginx does: quotes, backslashes and everything that is no printable ASCII become \xHH. */
function escaped(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, (character) => {
    return [...Buffer.from(character)]
      .map((octet) => `\\x${octet.toString(16).toUpperCase().padStart(2, '0')}`)
      .join('');
  });
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

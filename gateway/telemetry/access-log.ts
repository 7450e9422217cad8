// The access log: one JSON line for each request.
import type { Logger } from 'pino';
import type { AccessRecord } from '../core/access-record.ts';

/** Longer client text is cut: a line stays readable whatever a client sends. */
const LONGEST_TEXT = 1024;

/** Writes records as lines of `logger`; JSON escapes every control character. */
export function accessLog(logger: Logger): (record: AccessRecord) => void {
  // A logger of its own: `log.level` is about messages, the access log has its own switch.
  const lines = logger.child({ kind: 'access' }, { level: 'info' });
  return (record) => {
    lines.info({
      ...record,
      host: cut(record.host),
      path: cut(record.path),
      userAgent: record.userAgent === null ? null : cut(record.userAgent),
      durationMs: Math.round(record.durationMs * 1000) / 1000,
    });
  };
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

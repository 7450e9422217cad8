// A log that keeps what it is told.
import type { Log } from '../../gateway/core/log.ts';

export interface RecordedLog extends Log {
  /** The messages, each behind its level. */
  readonly lines: string[];
}

export function createRecordedLog(): RecordedLog {
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`);
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

// What goes wrong with MySQL: what passes by itself, and a sentence without credentials for the log.

/** The database took it back, or the connection was lost: the same work may succeed when it is done again. */
const PASSING: ReadonlySet<string> = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
  'PROTOCOL_CONNECTION_LOST',
  'ECONNRESET',
  'EPIPE',
]);

/** The driver's or the database's name of the fault; '' when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Whether the same work may succeed at once when it is done again. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(codeOf(error)) || (error instanceof Error && error.message.endsWith('is in closed state'));
}

/** The fault in a sentence; databases name the user whom they refuse, which is left out. */
export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  const sentence = error.message.replace(/'[^']*'@'[^']*'/g, '(user)');
  if (code === '' || sentence.includes(code)) return sentence;
  return sentence === '' ? code : `${code}: ${sentence}`;
}

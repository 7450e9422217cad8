// What an error of undici says: of the endpoint, of this machine, or of the caller.
import { errors } from 'undici';
import type { AttemptFailure } from '../core/failure.ts';

/** What the gateway makes of errors of sockets and of TLS. */
export interface SocketErrors {
  attemptFailure(error: NodeJS.ErrnoException, isConnected: boolean): AttemptFailure;
  /** Whether this machine ran short of something. */
  isLocalShortage(error: NodeJS.ErrnoException): boolean;
}

/** Codes of undici for requests that no endpoint could do anything about. */
const CALLERS_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_ABORTED',
]);

const UNDICI_FAILURES: ReadonlyMap<string, AttemptFailure> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', 'connection_timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'http_response_timeout'],
  ['UND_ERR_HEADERS_OVERFLOW', 'http_protocol_error'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'http_protocol_error'],
]);

/** Whether the request itself is at fault. */
export function isCallersFault(error: Error): boolean {
  return CALLERS_CODES.has(codeOf(error));
}

/** The failure behind an error of an attempt; `isSent` tells whether the connection stood. */
export function failureOf(error: Error, isSent: boolean, sockets: SocketErrors): AttemptFailure {
  const code = codeOf(error);
  const known = UNDICI_FAILURES.get(code);
  if (known !== undefined) return known;
  return error instanceof errors.HTTPParserError ? 'http_protocol_error' : sockets.attemptFailure(error, isSent);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

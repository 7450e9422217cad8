// What a socket's error says about an attempt.
import type { AttemptFailure } from '../core/failure.ts';

const CONNECT_FAILURES: ReadonlyMap<string, AttemptFailure> = new Map([
  ['ECONNREFUSED', 'connection_refused'],
  ['EHOSTUNREACH', 'destination_ip_unroutable'],
  ['ENETUNREACH', 'destination_ip_unroutable'],
  ['EADDRNOTAVAIL', 'destination_ip_unroutable'],
  ['ENOTFOUND', 'dns_error'],
  ['EAI_AGAIN', 'dns_error'],
  ['ETIMEDOUT', 'connection_timeout'],
]);

/** The failure behind an error; before the connection was made the system's code tells, afterwards it was cut. */
export function attemptFailure(error: NodeJS.ErrnoException, isConnected: boolean): AttemptFailure {
  return (isConnected ? undefined : CONNECT_FAILURES.get(error.code ?? '')) ?? 'connection_terminated';
}

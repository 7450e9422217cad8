// The request id: kept from a trusted peer if it is plain, else made.
import { randomUUID } from 'node:crypto';

const PLAIN = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/** `received` is the X-Request-Id field of the request. */
export function requestIdOf(received: string | undefined, isTrusted: boolean): string {
  return isTrusted && received !== undefined && PLAIN.test(received) ? received : randomUUID();
}

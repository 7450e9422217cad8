// Who may write to the table registry: those who know its secret, and no web page.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RegistryResponse } from './registry-routes.ts';

/** Why the request is refused before its body is read; undefined when it is not. `secret` '' lets everybody write. */
export function refusedAccess({ method, headers }: IncomingMessage, secret: string): RegistryResponse | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  // Browsers send Origin with whatever a page makes them write; no page has a service to register.
  if (headers.origin !== undefined) return { status: 403, document: { error: 'not for web pages: Origin is present' } };
  if (secret === '' || isSecret(headers.authorization, secret)) return undefined;
  const error = 'writing needs the secret of the registry, as in "Authorization: Bearer SECRET"';
  return { status: 401, document: { error }, fields: { 'www-authenticate': 'Bearer' } };
}

/** Digests are compared, so that the time it takes tells neither the secret nor its length. */
function isSecret(authorization: string | undefined, secret: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(secret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

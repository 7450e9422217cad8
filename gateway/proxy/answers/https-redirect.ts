// The answers of a listener that sends all clients to https.
import type { OwnAnswer } from '../answers.ts';

/** What authorities ask for over plain HTTP to see whose a name is (RFC 8555 section 8.3): it goes to routes as usual. */
const ACME_CHALLENGE = '/.well-known/acme-challenge/';

/** Whether a request is sent elsewhere, by its path as routes see it: all are but those of ACME. */
export function isRedirected(path: string): boolean {
  return !path.startsWith(ACME_CHALLENGE);
}

interface Place {
  /** May have a port, and is not empty. */
  readonly host: string;
  readonly target: string;
}

/** 308 to the same host and target by https. */
export function httpsRedirect(place: Place, redirect: { readonly port: number }, requestId: string): OwnAnswer {
  const lines = `Location: ${redirectLocation(place, redirect)}\r\nContent-Length: 0\r\nCache-Control: no-store\r\nX-Request-Id: ${requestId}\r\n`;
  const framing = { kind: 'length' as const, length: 0 };
  return {
    head: { status: 308, reason: 'Permanent Redirect', lines, hasDate: false, framing },
    content: Buffer.alloc(0),
  };
}

/** The same host and target by https, at the port. */
export function redirectLocation({ host, target }: Place, { port }: { readonly port: number }): string {
  return `https://${host.slice(0, endOfName(host))}${port === 443 ? '' : `:${port}`}${target}`;
}

/** Where the port begins, or the end: `[::1]:80` has colons of its own. */
function endOfName(host: string): number {
  const colon = host.indexOf(':', host.indexOf(']') + 1);
  return colon === -1 ? host.length : colon;
}

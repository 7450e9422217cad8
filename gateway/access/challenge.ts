// The WWW-Authenticate field of a refusal; it never says why (RFC 9110 section 11.6.1).

/** For user name and password, which are UTF-8 (RFC 7617 section 2.1). */
export function basicChallenge(realm: string): string {
  return `WWW-Authenticate: Basic realm=${quoted(realm)}, charset="UTF-8"\r\n`;
}

/** For a bearer token (RFC 6750 section 3): `hasToken` when one came that is not valid. */
export function bearerChallenge(realm: string, hasToken: boolean): string {
  return `WWW-Authenticate: Bearer realm=${quoted(realm)}${hasToken ? ', error="invalid_token"' : ''}\r\n`;
}

/** A quoted-string of text that has no control characters. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

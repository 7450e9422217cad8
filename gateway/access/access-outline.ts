// The checks of a route in short words, for people.
import type { AccessRules, AuthRules, CorsRules } from './access-rules.ts';

/** One line a check, in their order; none where everybody may come in. Says nothing secret. */
export function accessOutline({ allow, deny, auth, cors }: AccessRules): string[] {
  return [
    ...(allow.length === 0 && deny.length === 0 ? [] : [`address: ${addresses(allow, deny)}`]),
    ...(cors === null ? [] : [`cors: ${origins(cors)}`]),
    ...(auth === null ? [] : [authentication(auth)]),
  ];
}

function addresses(allow: readonly string[], deny: readonly string[]): string {
  const allowed = allow.length === 0 ? 'everybody' : `only ${allow.join(', ')}`;
  return deny.length === 0 ? allowed : `${allowed}, but not ${deny.join(', ')}`;
}

function origins({ origins, credentials }: CorsRules): string {
  return `pages of ${origins.join(', ')}${credentials ? ', with credentials' : ''}`;
}

function authentication(auth: AuthRules): string {
  switch (auth.kind) {
    case 'basic':
      return `basic: users of ${auth.users.file}, told in ${auth.userHeader}`;
    case 'jwt': {
      const told = Object.entries(auth.claims).map(([claim, field]) => `, ${claim} told in ${field}`);
      return `jwt: keys from ${auth.jwks.kind === 'url' ? withoutQuery(auth.jwks.url) : auth.jwks.file}${told.join('')}`;
    }
    case 'forward': {
      const told = auth.responseHeaders.length === 0 ? '' : `, told in ${auth.responseHeaders.join(', ')}`;
      return `forward: ${withoutQuery(auth.url)} within ${auth.timeoutMs}ms${told}`;
    }
  }
}

/** A query may hold a key. */
export function withoutQuery(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

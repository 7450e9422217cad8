// What does not go together with authentication in a route file.
import type { AuthRules } from '../access/access-rules.ts';
import { ownFields, toldFields } from '../access/own-fields.ts';
import { type Checking, refuse } from './fields.ts';

/** The parts of a route that authentication bears on. */
export interface BesideAuth {
  readonly auth: AuthRules | null;
  readonly rewrite: { readonly requestHeaders: { readonly set: Readonly<Record<string, string>> } };
  readonly fallback: { readonly chain: readonly { readonly kind: string }[] } | null;
}

/** Refuses what would give one user the answer of another, or the service two words on who it is. */
export function checkBesideAuth({ auth, rewrite, fallback }: BesideAuth, checking: Checking): void {
  if (auth === null) return;
  const own = ownFields(toldFields(auth));
  for (const name of Object.keys(rewrite.requestHeaders.set)) {
    if (!own.has(name.toLowerCase())) continue;
    const path = ['rewrite', 'requestHeaders', 'set', name];
    refuse(checking, { wrong: 'told by auth', expected: 'another header', path, at: 'key' });
  }
  for (const [at, { kind }] of (fallback?.chain ?? []).entries()) {
    if (kind !== 'stale') continue;
    const expected = 'no stale: an answer may be meant for one user alone';
    refuse(checking, { wrong: 'not beside auth', expected, path: ['fallback', 'chain', at, 'stale'], at: 'key' });
  }
}

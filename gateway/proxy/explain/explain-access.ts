// Who may come in by a route, and what that means for a request. Credentials are not checked.
import { accessOutline, withoutQuery } from '../../access/access-outline.ts';
import type { AuthRules } from '../../access/access-rules.ts';
import { compileAddressCheck } from '../../access/address-check.ts';
import { prepareCors } from '../../access/cors.ts';
import { ownFields, toldFields } from '../../access/own-fields.ts';
import type { RouteConfig } from '../../config/route-schema.ts';
import { verifiedRequest } from '../routes/verified-request.ts';
import type { ReadRequest } from './asked-request.ts';
import type { ExplainedAccess } from './explanation.ts';

export interface AccessExplained {
  /** Null where everybody may come in and CORS is the service's own affair. */
  readonly access: ExplainedAccess | null;
  /** The request without the claims of its client that do not count. */
  readonly seen: Pick<ReadRequest, 'method' | 'target' | 'header'>;
}

/** `routes` are all routes of the service; `client` is the address of the real client. */
export function explainAccess(
  route: RouteConfig,
  { routes, read, client }: { routes: readonly RouteConfig[]; read: ReadRequest; client: string },
): AccessExplained {
  const { method } = read;
  const told = ownFields(routes.flatMap(({ auth }) => (auth === null ? [] : toldFields(auth))));
  const seen = { ...verifiedRequest(read, { ownFields: told, lines: '' }), method };
  const checks = accessOutline(route);
  if (checks.length === 0) return { access: null, seen };
  const isPreflight = route.cors !== null && prepareCors(route.cors).preflightLines(read) !== null;
  const isWelcome = compileAddressCheck(route)?.(client) ?? true;
  const needs = route.auth === null || isPreflight ? null : needsOf(route.auth);
  return { access: { checks, isWelcome, isPreflight, needs, verified: verifiedParts(route, told) }, seen };
}

function needsOf(auth: AuthRules): string {
  switch (auth.kind) {
    case 'basic':
      return 'a user name and its password';
    case 'jwt':
      return 'a bearer token';
    case 'forward':
      return `the consent of ${withoutQuery(auth.url)}`;
  }
}

/** The fields by which a limit, a branch or a key goes and which only the checks can tell. */
function verifiedParts({ auth, rateLimit, split, balance }: RouteConfig, told: ReadonlySet<string>): string[] {
  if (auth === null) return [];
  const names = [
    ...rateLimit.map(({ key, name }) => (key === 'header' ? name : null)),
    ...split.map(({ when }) => (when?.on === 'header' ? when.name : null)),
    balance.hash?.on === 'header' ? balance.hash.name : null,
  ];
  return [...new Set(names.filter((name) => name !== null))].filter((name) => told.has(name));
}

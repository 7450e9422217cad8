// What a request would meet: route, limits, endpoint and failure, found out by the code that decides for real.
import type { RouteConfig } from '../../config/route-schema.ts';
import { normalisePath } from '../../routing/path.ts';
import { clientAddress, compileTrust, type TrustCheck } from '../client-address.ts';
import { announcedRequest } from '../routes/preflight.ts';
import {
  ASSUMED_CLIENT,
  type AskedRequest,
  askedUrl,
  asWritten,
  type ReadRequest,
  type RefusedRequest,
  readAsked,
} from './asked-request.ts';
import { certainRedirect, explainEntry } from './explain-entry.ts';
import { evadedRoute, explainRoute, type Match, matchRoutes } from './explain-match.ts';
import { type ExplainFacts, explainRouted } from './explain-routed.ts';
import type { ExplainedOutcome, ExplainedRequest, Explanation } from './explanation.ts';
import { answerToStar, ownAnswer } from './outcome.ts';
import { summaryOf } from './summary.ts';

/** Explains a request; a sentence when what is asked makes no sense. Changes nothing: no turn is used up by it. */
export function explain(asked: AskedRequest, facts: ExplainFacts): Explanation | string {
  const isTrusted = compileTrust(facts.gateway.trustedProxies);
  const read = readAsked(asked, facts.gateway.limits, isTrusted);
  if (typeof read === 'string') return read;
  const identity = clientOf(asked, read, isTrusted);
  const path = 'situation' in read ? null : (normalisePath(read.target) ?? null);
  const request: ExplainedRequest = {
    method: read.method,
    host: asWritten(read.host),
    target: asWritten(read.target),
    path: path === null ? null : asWritten(path),
    ...identity,
    upgrade: null,
  };
  const entry = explainEntry(askedUrl(asked, read.host), { ...read, path }, facts.listeners);
  const end = (outcome: ExplainedOutcome) => finish({ ...NOT_ROUTED, basis: facts.basis, request, entry, outcome });
  if ('situation' in read) return end(ownAnswer(read.situation, read.why));
  if (read.target === '*') return end(answerToStar(read.method));
  if (path === null) return end(ownAnswer('bad_request', 'a % without two hexadecimal digits'));
  const location = certainRedirect(entry);
  if (location !== null) return end({ kind: 'answer', status: 308, why: `the listener sends it to ${location}` });
  const preflight = matchPreflight(facts.routes, read, path);
  const { won, rivals, moreRivals } = preflight ?? matchRoutes(facts.routes, read, path);
  const evaded = preflight === null ? evadedRoute(facts.routes, read, won) : null;
  if (evaded !== null) {
    return end(ownAnswer('bad_request', `some services read its path as one that the route ${evaded.name} guards`));
  }
  if (won === undefined) return { ...end(ownAnswer('no_route', 'no route matches')), rivals, moreRivals };
  const explained = explainRouted({ facts, route: won.route, read, request });
  return finish({ ...explained, entry, rivals, moreRivals, route: explainRoute(won) });
}

/** As the handler does: a preflight belongs to the route of the request that it asks for; null where it is none. */
function matchPreflight(routes: readonly RouteConfig[], read: ReadRequest, path: string): Match | null {
  const announced = announcedRequest(read);
  const match = announced === null ? null : matchRoutes(routes, announced, path);
  return match?.won !== undefined && match.won.route.cors !== null ? match : null;
}

type Unfinished = Omit<Explanation, 'summary'>;

function finish(explanation: Unfinished): Explanation {
  return { summary: summaryOf(explanation), ...explanation };
}

function clientOf(
  { client }: AskedRequest,
  read: ReadRequest | RefusedRequest,
  isTrusted: TrustCheck,
): Pick<ExplainedRequest, 'client' | 'clientFrom'> {
  const clientFrom = client === null ? 'assumed' : 'given';
  if ('situation' in read) return { client: client ?? ASSUMED_CLIENT, clientFrom };
  const { peer } = read;
  const behind = clientAddress(peer, [read.header('x-forwarded-for') ?? ''], isTrusted);
  return behind === peer.address ? { client: behind, clientFrom } : { client: behind, clientFrom: 'x-forwarded-for' };
}

/** Of a request that no route takes. */
const NOT_ROUTED = {
  route: null,
  rivals: [],
  moreRivals: 0,
  access: null,
  forward: null,
  rateLimits: [],
  rateLimited: 0,
  concurrency: null,
  service: null,
  split: null,
  key: null,
  endpoints: [],
  pick: null,
  failure: null,
  answer: null,
} as const;

// The schema of a route file: every key with its type, default, check and documentation.
import { z } from 'zod';
import { checkBesideAuth } from './access-checks.ts';
import { auth as authSection, cors, networks } from './access-schema.ts';
import { compress, securityHeaders } from './answer-schema.ts';
import { ejection, retry, timeout } from './attempt-schema.ts';
import { balance, slowStart, split, subset } from './balance-schema.ts';
import { sourceName } from './discovery-schema.ts';
import { fallback } from './fallback-schema.ts';
import { type Checking, choice, flag, list, pattern, refuse, section, size, text, whole } from './fields.ts';
import { breaker, concurrency, rateLimit } from './limit-schema.ts';
import { matchRule } from './match-schema.ts';
import { endpointAddress } from './net-fields.ts';
import { rewrite } from './rewrite-schema.ts';

const word = text('text', (written) => written);

const endpointSection = section({
  address: endpointAddress.describe('Like 10.0.0.5:8080.'),
  weight: whole({ min: 0, max: 65_535 }).default(1).describe('Share of the traffic; 0 takes none.'),
  tags: list(word, { of: 'tags' }).prefault([]).describe('Tags of the endpoint.'),
  meta: z
    .record(z.string(), word, { error: 'a mapping of names to text' })
    .prefault({})
    .describe('Metadata of the endpoint.'),
}).transform(({ address, ...rest }) => ({ ...address, ...rest }));

const endpoint = z.union(
  [endpointAddress.transform(({ host, port }) => ({ host, port, weight: 1, tags: [], meta: {} })), endpointSection],
  { error: 'an address like 10.0.0.5:8080, or a mapping with address, weight, tags, meta' },
);

const routeKeys = section({
  service: pattern(
    'a name of letters, digits, ".", "_" and "-", at most 128',
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
  ).describe('Name of the service in discovery.'),
  source: sourceName.exactOptional().describe('Where its endpoints come from, if not from the default source.'),
  endpoints: list(endpoint, { of: 'endpoints', min: 1 })
    .exactOptional()
    .describe('Fixed endpoints instead of a source, each as address or as mapping.'),
  match: list(matchRule, { of: 'rules' })
    .prefault([])
    .describe('The requests of this route: those that any of these rules describes; without rules none.'),
  rewrite: rewrite.prefault({}).describe('What is changed on the way to the service and back.'),
  balance: balance.prefault({}).describe('How an endpoint is chosen.'),
  timeout: timeout.prefault({}).describe('How long the service may take.'),
  retry: retry.prefault({}).describe('When a request is tried again.'),
  ejection: ejection.prefault({}).describe('When an endpoint is set aside for its failures.'),
  body: size({ off: true })
    .exactOptional()
    .describe('Largest request body, or "off"; absent: limits.body of the gateway.'),
  websocket: flag
    .default(true)
    .describe('Whether WebSocket upgrades are tunnelled; to HTTP/2 endpoints they never are.'),
  fallback: fallback.exactOptional().describe('Who answers when the service cannot; absent: nobody.'),
  protocol: choice(['http', 'https', 'h2', 'h2c'])
    .default('http')
    .describe(
      'What the endpoints speak: HTTP/1.1, or HTTP/2 (gRPC) over TLS (h2) or plain TCP (h2c). With TLS the certificate is checked.',
    ),
  breaker: z
    .union([z.literal('off'), breaker], {
      error: 'off, or a mapping with failurePercent, minRequests, window, open, probes',
    })
    .prefault('off')
    .describe('Circuit breaker: while it is open, the fallback answers at once.'),
  subset: subset.prefault({}).describe('Only endpoints that carry all of this are chosen.'),
  split: split.exactOptional().describe('Canary: who gets which share of the requests; absent: no split.'),
  slowStart: slowStart.prefault({}).describe('How the traffic of an endpoint grows that is new or back.'),
  rateLimit: list(rateLimit, { of: 'limits, each with a rate' })
    .prefault([])
    .describe('How many requests may come; a request must be within all of them.'),
  concurrency: concurrency.prefault({}).describe('How many requests may run at once.'),
  compress: compress
    .prefault('off')
    .describe('Compression of answers: the codings that clients may get, the preferred first; or "off".'),
  securityHeaders: securityHeaders
    .prefault('off')
    .describe('Security headers for answers that lack them: "basic" suits most pages, "strict" forbids what it can.'),
  allow: networks.prefault([]).describe('Networks whose clients may come in; empty = everybody.'),
  deny: networks.prefault([]).describe('Networks whose clients may not; they win over `allow`.'),
  auth: authSection.exactOptional().describe('What clients must show to come in; absent: nothing.'),
  cors: cors.prefault({}).describe('Pages of other origins that may read the answers.'),
});

/** The schema of a route file; `source` comes out undefined where the gateway's default applies. */
export const routeSchema = routeKeys.transform((keys, checking) => {
  const { service, match, rewrite, timeout, retry, ejection, websocket } = keys;
  const [auth, fallback] = [keys.auth ?? null, keys.fallback ?? null];
  checkBesideAuth({ auth, rewrite, fallback }, checking);
  return {
    service,
    source: sourceOf(keys, checking),
    endpoints: keys.endpoints ?? [],
    match,
    rewrite,
    balance: keys.balance,
    subset: keys.subset,
    split: keys.split ?? [],
    slowStart: keys.slowStart,
    breaker: keys.breaker === 'off' ? null : keys.breaker,
    rateLimit: keys.rateLimit,
    concurrency: keys.concurrency,
    timeout,
    retry,
    ejection,
    bodyBytes: keys.body ?? null,
    websocket,
    protocol: keys.protocol,
    fallback,
    allow: keys.allow,
    deny: keys.deny,
    auth,
    cors: keys.cors,
    compress: keys.compress,
    securityHeaders: keys.securityHeaders,
  };
});

/** Where the endpoints of a route come from. */
export type RouteSource = z.output<typeof sourceName> | 'static';

type RouteKeys = z.output<typeof routeSchema>;

/** One route in force: all defaults filled in, units in the names. */
export interface RouteConfig extends Omit<RouteKeys, 'source'> {
  /** The file's name without folder and `.yaml`: the `route` label of metrics. */
  name: string;
  /** The file's path as it was given, for messages. */
  file: string;
  /** `static` when the file lists its endpoints. */
  source: RouteSource;
}

function sourceOf(keys: z.output<typeof routeKeys>, checking: Checking): RouteSource | undefined {
  if (keys.endpoints === undefined) return keys.source;
  if (keys.source === undefined) return 'static';
  return refuse(checking, { wrong: 'both source and endpoints', expected: 'one of them', path: ['source'] });
}

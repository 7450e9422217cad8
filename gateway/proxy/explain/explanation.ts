// What an explanation says: the document of /debug/explain and of `weir explain --json`.
import type { DegradedReason } from '../../shared/degraded-words.ts';

export interface Explanation {
  /** What becomes of the request, in one sentence. */
  readonly summary: string;
  /** `gateway`: as the running gateway stands at this moment; `files`: as one would that has just started. */
  readonly basis: 'gateway' | 'files';
  readonly request: ExplainedRequest;
  readonly outcome: ExplainedOutcome;
  /** Where it can come in. */
  readonly entry: ExplainedEntry;
  /** The route that takes the request; null when none does. */
  readonly route: ExplainedRoute | null;
  /** Other routes that match too, or all but match, the closest first. */
  readonly rivals: readonly Rival[];
  /** How many more of them there are. */
  readonly moreRivals: number;
  /** Null where everybody may come in and CORS is the service's own affair, and without a route. */
  readonly access: ExplainedAccess | null;
  readonly forward: ExplainedForward | null;
  /** In the order of the route file; a request must be within all of them. */
  readonly rateLimits: readonly ExplainedLimit[];
  /** Requests that the rate limits of the route have refused since it is in force. */
  readonly rateLimited: number;
  readonly concurrency: ExplainedConcurrency | null;
  readonly service: ExplainedService | null;
  /** The branch of the route's split; null without one. */
  readonly split: ExplainedSplit | null;
  /** The key of consistent hashing; null with another policy. */
  readonly key: ExplainedKey | null;
  readonly endpoints: readonly ExplainedEndpoint[];
  readonly pick: ExplainedPick | null;
  readonly failure: ExplainedFailure | null;
  /** Null where the route does nothing to answers, without a route, and for a tunnel. */
  readonly answer: ExplainedAnswer | null;
}

export interface ExplainedRequest {
  readonly method: string;
  /** As in the Host field, or the authority of the URL. */
  readonly host: string;
  /** Path and query as they are sent. */
  readonly target: string;
  /** The path that routes are matched by; null when the target is malformed. */
  readonly path: string | null;
  readonly client: string;
  readonly clientFrom: 'given' | 'assumed' | 'x-forwarded-for';
  /** What becomes of its wish to be a WebSocket; null when it has none, or no route. */
  readonly upgrade: 'tunnelled' | 'ignored' | null;
}

export interface ExplainedEntry {
  /** As the URL says; null for a path alone. */
  readonly scheme: 'http' | 'https' | null;
  /** The host of the URL, for which clients ask when TLS begins; '' for an IP address, and where nobody said. */
  readonly serverName: string;
  /** Those of the scheme, and of the port of the URL if there are any. */
  readonly listeners: readonly ExplainedListener[];
}

export interface ExplainedListener {
  /** Like `0.0.0.0:8443`. */
  readonly address: string;
  /** Null for plain HTTP. */
  readonly tls: {
    readonly minVersion: string;
    readonly clientCertificates: 'off' | 'request' | 'require';
    /** What the client is shown, one for each type of key; none where the files cannot be used. */
    readonly certificates: readonly ExplainedCertificate[];
    /** False where no certificate is for the name: these are those for all other names. */
    readonly isByName: boolean;
  } | null;
  readonly http2: boolean;
  /** Where the request is sent with 308; null when it is taken here. */
  readonly redirect: string | null;
  /** The value of Strict-Transport-Security; null for none. */
  readonly hsts: string | null;
  /** Peers whose connections begin with a PROXY header. */
  readonly proxyProtocol: readonly string[];
}

export interface ExplainedCertificate {
  readonly file: string;
  readonly names: readonly string[];
  /** Like `rsa` or `ec`. */
  readonly keyType: string;
  readonly notAfter: string;
}

/** How the request ends if nothing changes and the service answers. */
export type ExplainedOutcome =
  | { readonly kind: 'endpoint'; readonly endpoint: string; readonly isCertain: boolean }
  /** The fallback answers, for this reason. */
  | { readonly kind: 'fallback'; readonly reason: DegradedReason }
  /** Weir answers itself. */
  | { readonly kind: 'answer'; readonly status: number; readonly why: string }
  /** Only a running gateway can tell. */
  | { readonly kind: 'unknown'; readonly why: string };

export interface ExplainedRoute {
  readonly name: string;
  readonly file: string;
  /** The position in `match` of the rule that matches. */
  readonly rule: number;
  readonly host: { readonly kind: 'exact' | 'wildcard' | 'any'; readonly pattern: string | null };
  readonly path: { readonly kind: 'exact' | 'prefix'; readonly pattern: string };
  /** null for any. */
  readonly methods: readonly string[] | null;
  /** The values that are asked for; `*` means present. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Rival {
  readonly route: string;
  readonly file: string;
  /** The rule that came closest. */
  readonly rule: number;
  /** Whether it matches as well, and only ranks behind. */
  readonly matches: boolean;
  /** Why it does not get the request: the end of a sentence that begins with its name. */
  readonly why: string;
}

export interface ExplainedAccess {
  /** In their order; nothing secret is in them. */
  readonly checks: readonly string[];
  /** Whether the address of the client may come in. */
  readonly isWelcome: boolean;
  /** Whether it is a preflight, which needs no credentials. */
  readonly isPreflight: boolean;
  /** What it must have to come in, which is not checked here; null for nothing. */
  readonly needs: string | null;
  /** Fields by which a limit, a branch or a key goes and which only the checks can tell. */
  readonly verified: readonly string[];
}

export interface ExplainedForward {
  readonly target: string;
  /** null where it is the address of an endpoint that is not certain. */
  readonly host: string | null;
  readonly hostFrom: 'client' | 'upstream' | 'literal';
  readonly protocol: string;
  readonly stripPrefix: string;
  readonly addPrefix: string;
  /** Names of request fields that the route sets; their values may be secrets. */
  readonly sets: readonly string[];
  readonly removes: readonly string[];
}

export interface ExplainedLimit {
  readonly algorithm: string;
  /** Like `100/s`. */
  readonly rate: string;
  /** Requests at once, or that may wait; null for a sliding window. */
  readonly burst: number | null;
  /** The part of the request that is counted by, like `header x-user-id`. */
  readonly by: string;
  /** What this request counts under; null when it lacks the part: such requests count together. */
  readonly key: string | null;
}

export interface ExplainedConcurrency {
  readonly max: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
  /** Requests that run, and that wait, at this moment. */
  readonly running: number;
  readonly waiting: number;
}

export interface ExplainedService {
  readonly name: string;
  readonly source: string;
  /** `unknown` where only a running gateway knows the endpoints. */
  readonly state: 'healthy' | 'stale' | 'empty' | 'unknown';
  /** Since the source's last good answer; null before the first. */
  readonly ageSeconds: number | null;
  readonly lastError: string | null;
  readonly policy: string;
  readonly breaker: ExplainedBreaker | null;
  readonly maintenance: { readonly since: string; readonly reason: string } | null;
  readonly degraded: { readonly since: string; readonly reason: DegradedReason } | null;
}

export interface ExplainedBreaker {
  readonly state: 'closed' | 'open' | 'half_open';
  readonly until: string | null;
  /** Attempts and failures of its window at this moment. */
  readonly attempts: number;
  readonly failures: number;
  readonly windowMs: number;
  readonly minRequests: number;
  readonly failurePercent: number;
  readonly probes: number;
}

export interface ExplainedSplit {
  readonly branch: string;
  /** By its `when`, or by the weights. */
  readonly by: 'rule' | 'weight';
  /** Like `95 of 100`, or `header x-canary is "1"`. */
  readonly why: string;
  /** The branch that serves because this one has no endpoint left; null when it has. */
  readonly instead: string | null;
  readonly branches: readonly {
    readonly branch: string;
    readonly weight: number;
    /** The rule that sends requests here whatever the weight. */
    readonly when: string | null;
  }[];
}

export interface ExplainedKey {
  /** Like `header x-user-id`. */
  readonly from: string;
  /** null when the request has none, and goes by weighted round robin. */
  readonly value: string | null;
}

export interface ExplainedEndpoint {
  readonly endpoint: string;
  readonly weight: number;
  readonly effectiveWeight: number;
  readonly state: string;
  readonly inFlight: number;
  /** The moving average of the time to the response head; null before the first. */
  readonly latencyMs: number | null;
  readonly isCandidate: boolean;
  readonly isPicked: boolean;
  /** Why it cannot be picked, or takes less than its weight; null when nothing is to be said. */
  readonly why: string | null;
  readonly until: string | null;
  /** Its part of the weight of all candidates, in percent; null for one that is none. */
  readonly sharePercent: number | null;
  /** What `least_request` and `peak_ewma` compare, the least wins; null with other policies, or while it is unknown. */
  readonly cost: number | null;
}

export interface ExplainedPick {
  /** Who gets the next such request; where chance decides, who is best placed now; null when nobody. */
  readonly endpoint: string | null;
  /** False where chance decides. */
  readonly isCertain: boolean;
  /** Why it is this one. */
  readonly how: string;
  /** Who is asked when it fails, in turn, as far as that is certain. */
  readonly next: readonly string[];
  /** Whether it is certain that nobody can be asked when those have failed too, although the route would try again. */
  readonly isNobodyLeft: boolean;
}

export interface ExplainedFailure {
  readonly attempts: number;
  /** For each kind of failure whether this request is sent again. */
  readonly retries: readonly { readonly after: string; readonly isRetried: boolean; readonly why: string | null }[];
  readonly bodyBufferBytes: number;
  readonly budget: {
    /** null for no budget. */
    readonly percent: number | null;
    readonly minPerSecond: number;
    /** Requests and retries of the last ten seconds. */
    readonly requests: number;
    readonly retries: number;
    readonly isExhausted: boolean;
  };
  /** When the fallback answers, and its steps in order; null without one. */
  readonly fallback: { readonly on: readonly string[]; readonly chain: readonly string[] } | null;
}

export interface ExplainedAnswer {
  /** Null where the route does not compress. */
  readonly compression: {
    readonly offered: readonly string[];
    /** What this client gets where there is something to compress; null for none of them. */
    readonly coding: string | null;
  } | null;
  /** Lower-case names of security headers that an answer gets where its service says nothing. */
  readonly adds: readonly string[];
  readonly removes: readonly string[];
}

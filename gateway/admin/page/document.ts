// The document of /debug/upstreams as the live page reads it; types alone, the browser gets none of this.
export interface UpstreamsDocument {
  readonly gateway: Gateway;
  readonly snapshot: { readonly version: number; readonly takenAt: string | null; readonly from: string | null };
  readonly services: readonly Service[];
}

export interface Gateway {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: string | null;
  readonly uptimeSeconds: number;
  readonly leader: { readonly worker: number | null; readonly term: number };
  readonly workers: readonly Worker[];
  /** Absent in the documents of older versions. */
  readonly listeners?: readonly Listener[];
}

export interface Listener {
  readonly address: string;
  readonly tls: boolean;
  readonly certificates: readonly Certificate[];
}

export interface Certificate {
  readonly certificate: string;
  readonly names: readonly string[];
  readonly notAfter: string | null;
  readonly problem: string | null;
}

export interface Worker {
  readonly id: number;
  readonly leader: boolean;
  readonly snapshot: number;
  readonly connections: number;
  readonly eventLoopLagMs: number;
}

export interface Service {
  readonly service: string;
  readonly source: string;
  readonly state: 'healthy' | 'stale' | 'empty';
  readonly index: string | null;
  readonly lastSuccess: string | null;
  readonly ageSeconds: number | null;
  readonly lastError: string | null;
  readonly policy: string;
  readonly breaker: 'off' | 'closed' | 'open' | 'half_open';
  readonly breakerUntil: string | null;
  readonly maintenance: Maintenance | null;
  readonly degradedSince: string | null;
  readonly degradedReason: string | null;
  readonly skippedRecords: number;
  readonly endpoints: readonly Endpoint[];
}

export interface Maintenance {
  readonly since: string | null;
  readonly reason: string | null;
}

export interface Endpoint {
  readonly endpoint: string;
  readonly instances: readonly string[];
  readonly weight: number;
  readonly effectiveWeight: number;
  readonly status: string;
  readonly state: 'active' | 'ejected' | 'probing' | 'warming' | 'draining' | 'unhealthy';
  readonly why: string | null;
  readonly until: string | null;
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  readonly inFlight: number;
  readonly requests: number;
  readonly failures: number;
  readonly ejections: number;
  readonly latencyMs: number | null;
}

/** How much something wants to be looked at; colour and sign follow from it. */
export type Level = 'ok' | 'info' | 'warn' | 'bad';

/** What was counted between two looks at the gateway. */
export interface Rate {
  readonly requestsPerSecond: number;
  readonly failuresPerSecond: number;
  readonly requests: number;
  readonly failures: number;
}

/** One look at the gateway, for a plot; null for the first of its kind, when there is no rate yet. */
export interface Moment {
  readonly atMs: number;
  readonly requestsPerSecond: number | null;
  readonly failuresPerSecond: number | null;
  readonly inFlight: number | null;
}

export interface Problem {
  readonly level: Level;
  /** Null when it is one of the gateway. */
  readonly service: string | null;
  readonly sentences: readonly string[];
}

export interface Change {
  readonly level: Level;
  readonly service: string | null;
  readonly text: string;
}

/** What every part of the page is drawn from. */
export interface View {
  readonly document: UpstreamsDocument;
  /** The time of day of the gateway, milliseconds since the Unix epoch. */
  readonly gatewayMs: number;
  /** The time of the plots, by the clock of the browser. */
  readonly nowMs: number;
  readonly meter: Meter;
}

/** Rates by name; null where there are none yet. */
export interface Meter {
  endpointRate(service: string, endpoint: string): Rate | null;
  serviceRate(service: string): Rate | null;
  totalRate(): Rate | null;
  serviceMoments(service: string): readonly Moment[];
  totalMoments(): readonly Moment[];
}

/** What the gateway said to a question or an order. */
export type Reply =
  | {
      readonly kind: 'document';
      readonly document: UpstreamsDocument;
      readonly tookMs: number;
      /** Characters of its text. */
      readonly size: number;
    }
  | { readonly kind: 'done' }
  | { readonly kind: 'unauthorised'; readonly detail: string }
  | { readonly kind: 'trouble'; readonly detail: string };

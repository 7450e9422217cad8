// The contract of a balancing policy: told once which endpoints may be chosen, asked for one with every attempt.

/** What every policy knows of an endpoint. */
export interface Weighted {
  /** 1..65535. An endpoint of weight 0 takes no traffic and is never given to a policy. */
  readonly weight: number;
}

/** What the policies that look at identity, load or latency know besides. */
export interface Candidate extends Weighted {
  /** `address:port`; no two endpoints of a pool have the same. */
  readonly key: string;
  /** Requests on their way at this moment, of all workers. */
  inFlight(): number;
  /** The decayed, peak-sensitive latency in ms (see peak-average.ts); 0 while nothing is known of it. */
  latencyMs(): number;
}

/** Chooses among the endpoints of the last `update`; a policy never sees an endpoint that must not be chosen. */
export interface Balancer<E> {
  /**
   * Takes the usable endpoints, in an order that is the same in every worker; called when they or their weights change.
   * What the policy knows of endpoints that stay is not lost: it lives in the endpoints and in the shared turn.
   */
  update(usable: readonly E[]): void;
  /**
   * One endpoint that is not among `tried`; undefined when there is none. `hash` is the uint32 hash of the request's
   * key (see key-hash.ts), absent when the request has none; only consistent hashing looks at it.
   */
  pick(tried: readonly E[], hash?: number): E | undefined;
}

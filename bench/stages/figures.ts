// The figures of one measurement of one gateway.

export interface Figures {
  readonly perSecond: number;
  /** CPU time of the gateway's processes, user and system, a request. */
  readonly cpuMicroseconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly rssMiB: number;
  readonly errors: number;
}

/** What was measured of one gateway: a sample a round, or why there is none. */
export interface Measured {
  readonly peer: string;
  readonly samples: readonly Figures[];
  readonly absent?: string;
}

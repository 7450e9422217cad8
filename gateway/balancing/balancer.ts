// The contract of a balancing policy: told once which endpoints may be chosen, asked for one with every attempt.

/** What a policy may know of an endpoint. */
export interface Weighted {
  /** 1..65535. */
  readonly weight: number;
}

/** Chooses among the endpoints of the last `update`; a policy never sees an endpoint that must not be chosen. */
export interface Balancer<E extends Weighted> {
  /** Takes the usable endpoints, in an order that is the same in every worker; called when they or their weights change. */
  update(usable: readonly E[]): void;
  /** One endpoint that is not among `tried`; undefined when there is none. */
  pick(tried: readonly E[]): E | undefined;
}

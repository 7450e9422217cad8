// From the policy of a route to its balancer.
import type { Balancer, Candidate } from './balancer.ts';
import { ConsistentHash } from './consistent-hash.ts';
import { LeastRequest } from './least-request.ts';
import { PeakEwma } from './peak-ewma.ts';
import { Random } from './random.ts';
import { WeightedRoundRobin } from './weighted-round-robin.ts';

/** The policies by their names in a route's `balance.policy`. */
export const BALANCE_POLICIES = [
  'weighted_round_robin',
  'random',
  'least_request',
  'peak_ewma',
  'consistent_hash',
] as const;

export interface BalancePolicy {
  readonly kind: (typeof BALANCE_POLICIES)[number];
  /** For `consistent_hash`: at least 1, Infinity for any load; 1.25 when absent. */
  readonly boundedLoad?: number;
}

/** What the policies of one pool draw on. */
export interface BalanceSources {
  /** Whole numbers from 0 on, each given to one caller only over all workers. */
  readonly nextTurn: () => number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Requests on their way to the whole pool, of all workers. */
  readonly totalInFlight: () => number;
}

const BOUNDED_LOAD = 1.25;

export function makeBalancer<E extends Candidate>(policy: BalancePolicy, sources: BalanceSources): Balancer<E> {
  switch (policy.kind) {
    case 'weighted_round_robin':
      return new WeightedRoundRobin(sources.nextTurn);
    case 'random':
      return new Random(sources.random);
    case 'least_request':
      return new LeastRequest(sources);
    case 'peak_ewma':
      return new PeakEwma(sources.random);
    case 'consistent_hash':
      return new ConsistentHash({ ...sources, boundedLoad: policy.boundedLoad ?? BOUNDED_LOAD });
  }
}

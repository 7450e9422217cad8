// What the data plane logs of its services: endpoints set aside, breakers, answers without the pool.
import { FAILURE_TEXT } from '../core/failure.ts';
import type { Log } from '../core/log.ts';
import type { BreakerChange, TrafficChange } from '../pool/traffic-judge.ts';
import type { DegradedReason } from '../shared/degraded-words.ts';
import type { EjectionReason } from '../shared/endpoint-cell.ts';

export class TrafficLog {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** An endpoint was set aside or came back. */
  traffic(service: string, { endpoint, to, reason, forMs }: TrafficChange): void {
    const what = { service, endpoint: endpoint.key };
    if (to === 'active' || reason === null) this.#log.info(what, 'endpoint is back in service');
    else this.#log.warn({ ...what, ...figuresOf(reason), forMs: Math.round(forMs) }, 'endpoint ejected');
  }

  /** The breaker of a service opened or closed. */
  breaker(service: string, { to, attempts, failures }: BreakerChange): void {
    if (to === 'open') this.#log.warn({ service, attempts, failures }, 'breaker opened');
    else this.#log.info({ service, probes: attempts }, 'breaker closed');
  }

  /** A service began to answer without its pool, or (null) ceased to. */
  degraded(service: string, reason: DegradedReason | null): void {
    if (reason === null) this.#log.info({ service }, 'service answers from its pool again');
    else this.#log.warn({ service, reason }, 'service is degraded: its fallback answers');
  }
}

function figuresOf({ trigger, figure, why }: EjectionReason): object {
  switch (trigger) {
    case 'consecutive_failures':
      return { trigger, failures: figure, reason: FAILURE_TEXT[why] };
    case 'failure_percent':
      return { trigger, failedPercent: figure, reason: FAILURE_TEXT[why] };
    case 'slow':
      return { trigger, timesTheMedian: figure / 10 };
  }
}

// What `weir/client` gives: an undici dispatcher that knows services, as its users see it.
import type { Dispatcher } from 'undici';
import type { EndpointView } from '../pool/view.ts';
import type { BreakerState } from '../resilience/breaker.ts';

/** A dispatcher for which `http://<service>/` is an address. */
export interface DiscoveryDispatcher extends Dispatcher {
  /**
   * Resolves when discovery has given a good answer for every service, also where that has no endpoint; rejects with
   * `WEIR_NOT_READY` after `readyTimeout`, and with undici's ClientClosedError when the dispatcher is closed.
   */
  ready(): Promise<void>;
  /** The services and their endpoints as they stand: weight, state, the reason in a sentence, counts, latency. */
  upstreams(): UpstreamView[];
  /** Whether `close` or `destroy` was called. */
  readonly closed: boolean;
  readonly destroyed: boolean;
}

/**
 * What Node's own fetch takes as `dispatcher` by its types, which describe undici's Dispatcher a second time; anything
 * where `RequestInit` is that of a browser.
 */
export type FetchDispatcher = RequestInit extends { dispatcher?: infer Taken } ? NonNullable<Taken> : unknown;

/** A service with its endpoints; times are RFC 3339. */
export interface UpstreamView {
  readonly service: string;
  readonly source: string;
  /** `stale`: discovery fails, the last good answer stays; `empty`: no endpoint could take traffic. */
  readonly state: 'healthy' | 'stale' | 'empty';
  /** When the last good answer came; null before the first. */
  readonly lastSuccess: string | null;
  readonly lastError: string | null;
  readonly policy: string;
  readonly breaker: BreakerState | 'off';
  readonly breakerUntil: string | null;
  readonly endpoints: readonly EndpointView[];
}

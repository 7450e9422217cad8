// What a service says of itself and of the services that it calls: the options of the dispatcher, as they are written.
import type { Dispatcher } from 'undici';
import type { BALANCE_POLICIES } from '../balancing/make-balancer.ts';
import type { Log } from '../core/log.ts';

/** `250ms`, `5s`, `2m`, `24h`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`;
/** `512B`, `64KiB`, `10MiB`. */
export type Size = `${number}${'B' | 'KiB' | 'MiB' | 'GiB'}`;

export interface DiscoveryDispatcherOptions {
  /** The services by name: a list where the defaults will do, else the options of each. */
  readonly services: readonly string[] | Readonly<Record<string, ServiceOptions>>;
  /** Where the endpoints come from. Where several are given, every service names its own in `source`. */
  readonly consul?: ConsulOptions;
  readonly registry?: RegistryOptions;
  readonly dns?: DnsOptions;
  readonly etcd?: EtcdOptions;
  /** After this time an empty answer is asked for again before it empties a pool; 2s. */
  readonly confirmEmpty?: Duration;
  /** How long the last good endpoints outlive an empty answer that cannot be trusted; 10m. */
  readonly holdLastGood?: Duration;
  /** How long a request, or `ready()`, waits for the first answer of discovery; 5s. */
  readonly readyTimeout?: Duration;
  /** Takes every request that is for none of the services; undici's global dispatcher as it is at the call. */
  readonly fallback?: Dispatcher;
  /** Takes what is to be told of discovery and of endpoints (pino fits); nothing is logged without it. */
  readonly log?: Log;
}

/** How a service is called; names, values and defaults are those of a route file of the gateway. */
export interface ServiceOptions {
  /** Which of the sources given lists it; needless where there is one. */
  readonly source?: 'consul' | 'registry' | 'dns' | 'etcd';
  /** Fixed endpoints instead of a source. */
  readonly endpoints?: readonly (string | FixedEndpoint)[];
  /** What the endpoints speak, and the scheme of the service's address; http. */
  readonly protocol?: 'http' | 'https';
  readonly balance?: BalanceOptions;
  /** Only endpoints that carry all of this are chosen. */
  readonly subset?: Labels;
  /** Canary: the first branch whose `when` holds takes a request, else the weights decide. */
  readonly split?: readonly SplitBranch[];
  readonly timeout?: TimeoutOptions;
  readonly retry?: RetryOptions;
  readonly ejection?: EjectionOptions;
  readonly slowStart?: { readonly window?: Duration | 'off'; readonly minPercent?: number };
  /** off. */
  readonly breaker?: 'off' | BreakerOptions;
}

export interface Labels {
  readonly tags?: readonly string[];
  readonly meta?: Readonly<Record<string, string>>;
}

export interface FixedEndpoint extends Labels {
  /** `10.0.0.5:8080`. */
  readonly address: string;
  readonly weight?: number;
}

export interface SplitBranch extends Labels {
  readonly weight: number;
  readonly when?: { readonly header?: string; readonly cookie?: string; readonly equals?: string };
}

export interface BalanceOptions {
  /** weighted_round_robin. */
  readonly policy?: (typeof BALANCE_POLICIES)[number];
  /** The key of `consistent_hash`. */
  readonly hash?: {
    readonly on: 'header' | 'cookie' | 'path' | 'query';
    readonly name?: string;
    /** 1.25. */
    readonly boundedLoad?: number | 'off';
  };
}

export interface TimeoutOptions {
  /** Until the connection to an endpoint stands; 2s. */
  readonly connect?: Duration;
  /** From the sent request to the response head; 30s. */
  readonly response?: Duration;
  /** Between two reads of the response body; 60s. */
  readonly idle?: Duration;
  /** From the request to the end of its response, all attempts together; off. */
  readonly total?: Duration | 'off';
}

export interface RetryOptions {
  /** Attempts in all, each at another endpoint; 3. */
  readonly attempts?: number;
  /** Failures after which there is another attempt; all three. */
  readonly on?: readonly ('connect' | 'reset' | 'timeout')[];
  /** Response statuses after which there is another attempt; 502, 503, 504. */
  readonly statuses?: readonly number[];
  /** Largest body of a stream that is kept for another attempt; 64KiB. */
  readonly bodyBuffer?: Size;
  /** Most retries, as a share of the requests of the last 10 seconds; 20%. */
  readonly budget?: `${number}%` | 'off';
  /** Retries a second that the budget always allows; 3. */
  readonly minPerSecond?: number;
}

export interface EjectionOptions {
  /** 5. */
  readonly consecutiveFailures?: number;
  /** 50. */
  readonly failurePercent?: number | 'off';
  /** 20. */
  readonly minRequests?: number;
  /** 10s. */
  readonly window?: Duration;
  /** off. */
  readonly slowerThan?: number | 'off';
  /** 5s. */
  readonly base?: Duration;
  /** 300s. */
  readonly max?: Duration;
  /** 50. */
  readonly maxPercent?: number;
  /** 500, 502, 503, 504. */
  readonly statuses?: readonly number[];
}

export interface BreakerOptions {
  readonly failurePercent?: number;
  readonly minRequests?: number;
  readonly window?: Duration;
  readonly open?: Duration;
  readonly probes?: number;
}

export interface TlsFileOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface ConsulOptions {
  /** Agents of one cluster, tried in this order; http://127.0.0.1:8500. */
  readonly agents?: readonly string[];
  readonly token?: string;
  readonly datacenter?: string;
  /** 60s. */
  readonly wait?: Duration;
  readonly consistency?: 'default' | 'stale' | 'consistent';
  /** passing. */
  readonly accept?: readonly ('passing' | 'warning')[];
  readonly tls?: TlsFileOptions;
}

export interface RegistryOptions {
  /** http://127.0.0.1:8510. */
  readonly url?: string;
  /** 5s. */
  readonly interval?: Duration;
}

export interface DnsOptions {
  readonly resolver?: string;
  readonly type?: 'srv' | 'a' | 'aaaa';
  readonly name?: string;
  readonly port?: number;
  readonly minTtl?: Duration;
  readonly maxTtl?: Duration;
}

export interface EtcdOptions {
  readonly endpoints?: readonly string[];
  readonly prefix?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsFileOptions;
}

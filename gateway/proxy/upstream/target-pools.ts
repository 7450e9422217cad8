// The connections to endpoints by who they lead to, and by the name that the certificate is checked for.
import type { UpstreamTarget, UpstreamTls } from './upstream.ts';

/** What is kept for one target. */
export interface TargetPool {
  /** Closes what is idle now and the rest when it is free. */
  retire(): void;
  destroy(): void;
}

export class TargetPools<Pool extends TargetPool> {
  readonly #create: (target: UpstreamTarget, tls: UpstreamTls | null) => Pool;
  readonly #plain = new Map<UpstreamTarget, Pool>();
  readonly #byServername = new Map<string, Map<UpstreamTarget, Pool>>();

  constructor(create: (target: UpstreamTarget, tls: UpstreamTls | null) => Pool) {
    this.#create = create;
  }

  /** The pool of a target, made when there is none. */
  get(target: UpstreamTarget, tls: UpstreamTls | null): Pool {
    const pools = tls === null ? this.#plain : this.#poolsFor(tls.servername);
    const known = pools.get(target);
    if (known !== undefined) return known;
    const pool = this.#create(target, tls);
    pools.set(target, pool);
    return pool;
  }

  /** Retires the pools of a target. */
  forget(target: UpstreamTarget): void {
    for (const pools of this.#all()) {
      pools.get(target)?.retire();
      pools.delete(target);
    }
  }

  /** Cuts all connections. */
  destroy(): void {
    for (const pools of this.#all()) {
      for (const pool of pools.values()) pool.destroy();
      pools.clear();
    }
  }

  #all(): readonly Map<UpstreamTarget, Pool>[] {
    return [this.#plain, ...this.#byServername.values()];
  }

  #poolsFor(servername: string): Map<UpstreamTarget, Pool> {
    const known = this.#byServername.get(servername);
    if (known !== undefined) return known;
    const pools = new Map<UpstreamTarget, Pool>();
    this.#byServername.set(servername, pools);
    return pools;
  }
}

// Upstream connections by Weir's own codec: a pool for each endpoint, the newest kept connection first.
import { lastOf } from '../../core/last-of-kind.ts';
import type { Sweep } from '../sweep.ts';
import { type TargetPool, TargetPools } from './target-pools.ts';
import type {
  Upstream,
  UpstreamCall,
  UpstreamEvents,
  UpstreamRequest,
  UpstreamTarget,
  UpstreamTls,
} from './upstream.ts';
import { type ConnectionPool, UpstreamConnection } from './upstream-connection.ts';

export interface Http1UpstreamOptions {
  readonly sweep: Sweep;
  /** Told of every connection that opens (1) and closes (-1). */
  readonly onConnections: (by: 1 | -1) => void;
}

export class Http1Upstream implements Upstream {
  readonly #pools: TargetPools<EndpointPool>;

  constructor(options: Http1UpstreamOptions) {
    this.#pools = new TargetPools((target, tls) => new EndpointPool(target, tls, options));
  }

  send(to: UpstreamTarget, request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    const call = this.#pools.get(to, request.tls).take(request.needsFresh).send(request, events);
    lastOf.http1Call = call;
    return call;
  }

  forget(target: UpstreamTarget): void {
    this.#pools.forget(target);
  }

  stop(): void {
    this.#pools.destroy();
  }
}

class EndpointPool implements ConnectionPool, TargetPool {
  readonly sweep: Sweep;
  readonly #target: UpstreamTarget;
  readonly #tls: UpstreamTls | null;
  readonly #options: Http1UpstreamOptions;
  readonly #all = new Set<UpstreamConnection>();
  /** The one used last is at the end: few connections stay warm, the others expire. */
  readonly #idle: UpstreamConnection[] = [];
  #isClosed = false;

  constructor(target: UpstreamTarget, tls: UpstreamTls | null, options: Http1UpstreamOptions) {
    this.#target = target;
    this.#tls = tls;
    this.#options = options;
    this.sweep = options.sweep;
  }

  take(needsFresh: boolean): UpstreamConnection {
    const kept = needsFresh ? undefined : this.#idle.pop();
    return kept ?? this.#open();
  }

  released(connection: UpstreamConnection): void {
    if (this.#isClosed) connection.destroy();
    else this.#idle.push(connection);
  }

  closed(connection: UpstreamConnection): void {
    if (!this.#all.delete(connection)) return;
    this.#options.onConnections(-1);
    const at = this.#idle.lastIndexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  /** Closes what is idle now and the rest when it is free. */
  retire(): void {
    this.#isClosed = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  destroy(): void {
    this.#isClosed = true;
    for (const connection of this.#all) connection.destroy();
  }

  #open(): UpstreamConnection {
    const connection = new UpstreamConnection(this.#target, this.#tls, this);
    this.#all.add(connection);
    this.#options.onConnections(1);
    return connection;
  }
}

// Upstream connections by Weir's own codec: a pool for each endpoint, the newest kept connection first.
import type { Sweep } from './sweep.ts';
import type { Upstream, UpstreamCall, UpstreamEvents, UpstreamRequest, UpstreamTarget } from './upstream.ts';
import { type ConnectionPool, UpstreamConnection } from './upstream-connection.ts';

export interface Http1UpstreamOptions {
  readonly sweep: Sweep;
  /** Told of every connection that opens (1) and closes (-1). */
  readonly onConnections: (by: 1 | -1) => void;
}

export class Http1Upstream implements Upstream {
  readonly #options: Http1UpstreamOptions;
  readonly #pools = new Map<UpstreamTarget, EndpointPool>();

  constructor(options: Http1UpstreamOptions) {
    this.#options = options;
  }

  send(to: UpstreamTarget, request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    let pool = this.#pools.get(to);
    if (pool === undefined) {
      pool = new EndpointPool(to, this.#options);
      this.#pools.set(to, pool);
    }
    return pool.take(request.needsFresh).send(request, events);
  }

  forget(target: UpstreamTarget): void {
    this.#pools.get(target)?.close();
    this.#pools.delete(target);
  }

  stop(): void {
    for (const pool of this.#pools.values()) pool.destroy();
    this.#pools.clear();
  }
}

class EndpointPool implements ConnectionPool {
  readonly sweep: Sweep;
  readonly #target: UpstreamTarget;
  readonly #options: Http1UpstreamOptions;
  readonly #all = new Set<UpstreamConnection>();
  /** The one used last is at the end: few connections stay warm, the others expire. */
  readonly #idle: UpstreamConnection[] = [];
  #isClosed = false;

  constructor(target: UpstreamTarget, options: Http1UpstreamOptions) {
    this.#target = target;
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
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  destroy(): void {
    this.#isClosed = true;
    for (const connection of this.#all) connection.destroy();
  }

  #open(): UpstreamConnection {
    const connection = new UpstreamConnection(this.#target, this);
    this.#all.add(connection);
    this.#options.onConnections(1);
    return connection;
  }
}

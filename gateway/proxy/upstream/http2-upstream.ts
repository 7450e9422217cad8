// Upstream connections that speak HTTP/2: for each endpoint as few as its limit of concurrent streams allows.

import { lastOf } from '../../core/last-of-kind.ts';
import type { Sweep } from '../sweep.ts';
import { Http2Call } from './http2-upstream-call.ts';
import { type Http2ConnectionPool, Http2UpstreamConnection, MOST_STREAMS } from './http2-upstream-connection.ts';
import { HeadStore } from './http2-upstream-head.ts';
import { type TargetPool, TargetPools } from './target-pools.ts';
import type {
  Upstream,
  UpstreamCall,
  UpstreamEvents,
  UpstreamRequest,
  UpstreamTarget,
  UpstreamTls,
} from './upstream.ts';

export interface Http2UpstreamOptions {
  readonly sweep: Sweep;
  /** Told of every connection that opens (1) and closes (-1). */
  readonly onConnections: (by: 1 | -1) => void;
}

export class Http2Upstream implements Upstream {
  readonly #sweep: Sweep;
  readonly #pools: TargetPools<EndpointPool>;

  constructor(options: Http2UpstreamOptions) {
    const heads = new HeadStore();
    this.#sweep = options.sweep;
    this.#pools = new TargetPools((target, tls) => new EndpointPool({ target, tls, heads, ...options }));
  }

  send(to: UpstreamTarget, request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    const call = new Http2Call(request, events, this.#sweep.nowMs);
    lastOf.http2Call = call;
    this.#pools.get(to, request.tls).place(call);
    return call;
  }

  forget(target: UpstreamTarget): void {
    this.#pools.forget(target);
  }

  stop(): void {
    this.#pools.destroy();
  }
}

interface PoolParts extends Http2UpstreamOptions {
  readonly target: UpstreamTarget;
  readonly tls: UpstreamTls | null;
  readonly heads: HeadStore;
}

class EndpointPool implements Http2ConnectionPool, TargetPool {
  readonly sweep: Sweep;
  readonly heads: HeadStore;
  readonly #parts: PoolParts;
  /** The oldest first: they are filled first, and the others expire. */
  readonly #connections: Http2UpstreamConnection[] = [];
  #limit = MOST_STREAMS;
  #losses = 0;
  #isRetired = false;

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.sweep = parts.sweep;
    this.heads = parts.heads;
  }

  place(call: Http2Call): void {
    const { needsFresh } = call.request;
    const kept = this.#connections.find(
      // One that was opened since the last one was lost is as good as a new one.
      (each) => each.room > 0 && (!needsFresh || each.bornAfter === this.#losses),
    );
    (kept ?? this.#open()).take(call);
    // A call that an endpoint which is gone sent back ends on a connection of its own.
    if (this.#isRetired) this.retire();
  }

  limitLearnt(limit: number): void {
    this.#limit = Math.max(1, limit);
  }

  lost(): void {
    this.#losses++;
  }

  closed(connection: Http2UpstreamConnection): void {
    const at = this.#connections.indexOf(connection);
    if (at === -1) return;
    this.#connections.splice(at, 1);
    this.#parts.onConnections(-1);
  }

  /** Closes what is idle now and the rest when it is free. */
  retire(): void {
    this.#isRetired = true;
    for (const connection of [...this.#connections]) connection.retire();
  }

  destroy(): void {
    this.#isRetired = true;
    for (const connection of [...this.#connections]) connection.destroy();
  }

  #open(): Http2UpstreamConnection {
    const { target, tls } = this.#parts;
    const connection = new Http2UpstreamConnection({
      target,
      tls,
      pool: this,
      expectedLimit: this.#limit,
      bornAfter: this.#losses,
    });
    this.#connections.push(connection);
    this.#parts.onConnections(1);
    return connection;
  }
}

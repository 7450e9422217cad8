// The connections to the endpoints of one service: those that are free are kept, the one used last goes first.
import { buildConnector } from 'undici';
import type { PooledEndpoint } from '../pool/pooled-endpoint.ts';
import { type ConnectionKeeper, type ConnectionWay, EndpointConnection } from './endpoint-connection.ts';

export interface ConnectionsOptions {
  readonly protocol: 'http' | 'https';
  readonly connectTimeoutMs: number;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #connect: buildConnector.connector;
  readonly #byEndpoint = new Map<PooledEndpoint, KeptConnections>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#connect = buildConnector({ allowH2: false, timeout: 0 });
  }

  /** A connection for one request: one that is kept, unless it has to be a fresh one. */
  take(endpoint: PooledEndpoint, needsFresh: boolean): EndpointConnection {
    let kept = this.#byEndpoint.get(endpoint);
    if (kept === undefined) {
      const { protocol, connectTimeoutMs: timeoutMs } = this.#options;
      kept = new KeptConnections({ origin: `${protocol}://${endpoint.key}`, connect: this.#connect, timeoutMs });
      this.#byEndpoint.set(endpoint, kept);
    }
    return kept.take(needsFresh);
  }

  /** The endpoint is gone: what is free closes at once, the rest with its request. */
  forget(endpoint: PooledEndpoint): void {
    this.#byEndpoint.get(endpoint)?.close();
    this.#byEndpoint.delete(endpoint);
  }

  close(): void {
    for (const kept of this.#byEndpoint.values()) kept.close();
    this.#byEndpoint.clear();
  }
}

class KeptConnections implements ConnectionKeeper {
  readonly #way: ConnectionWay;
  /** The one used last is at the end: few stay warm, the others expire. */
  readonly #free: EndpointConnection[] = [];
  #isClosed = false;

  constructor(way: ConnectionWay) {
    this.#way = way;
  }

  take(needsFresh: boolean): EndpointConnection {
    const free = needsFresh ? undefined : this.#free.pop();
    return free ?? new EndpointConnection(this.#way, this);
  }

  released(connection: EndpointConnection): void {
    if (this.#isClosed) connection.destroy();
    else this.#free.push(connection);
  }

  disconnected(connection: EndpointConnection): void {
    const at = this.#free.lastIndexOf(connection);
    if (at === -1) return;
    this.#free.splice(at, 1);
    connection.destroy();
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#free.splice(0)) connection.destroy();
  }
}

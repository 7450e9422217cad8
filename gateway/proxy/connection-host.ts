// What a listener is to its connections, and they to it.
import type { Socket } from 'node:net';
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { ErrorSituation } from '../core/errors.ts';
import type { ConnectionOptions as Options } from '../http1/connection-options.ts';
import type { HeadLimits } from '../http1/head-limits.ts';
import type { ClientPeer } from './client-address.ts';
import type { ClientExchange } from './client-exchange.ts';
import type { HttpDate } from './http-date.ts';
import type { Sweep } from './sweep.ts';

export interface HostedConnection {
  /** Ends the connection soon if no request is under way on it; one that is on its way is still answered. */
  endWhenIdle(): void;
  destroy(): void;
}

/** What all connections of a listener share. */
export interface ConnectionHost {
  readonly headLimits: HeadLimits;
  readonly timeouts: GatewayConfig['timeouts'];
  readonly sweep: Sweep;
  readonly isDraining: boolean;
  readonly date: HttpDate;
  onRequest(exchange: ClientExchange, options: Options): void;
  /** True when the request is an upgrade that somebody takes over, with the socket and what was read. */
  takeUpgrade(exchange: ClientExchange, options: Options, take: () => { socket: Socket; octets: Buffer }): boolean;
  /** A request was answered with an error before there was an exchange. */
  onRefused(peer: ClientPeer, situation: ErrorSituation, requestId: string): void;
  onClosed(connection: HostedConnection): void;
}

// What a listener is to its connections, and they to it.
import type { GatewayConfig } from '../../config/gateway-schema.ts';
import type { ErrorSituation } from '../../core/errors.ts';
import type { ConnectionOptions as Options } from '../../http1/connection-options.ts';
import type { HeadLimits } from '../../http1/head-limits.ts';
import type { ClientPeer } from '../client-address.ts';
import type { Exchange } from '../exchange.ts';
import type { Sweep } from '../sweep.ts';
import type { HttpDate } from './http-date.ts';

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
  /** The Strict-Transport-Security line of every answer, with its CRLF; '' for none. */
  readonly hstsLine: string;
  onRequest(exchange: Exchange, options: Options): void;
  /** A request was answered with an error before there was an exchange. */
  onRefused(peer: ClientPeer, situation: ErrorSituation, requestId: string): void;
  onClosed(connection: HostedConnection): void;
}

// The seam behind: what sending a request to an endpoint takes and what comes back, whatever codec carries it.
import type { AttemptFailure } from '../../core/failure.ts';
import type { FieldTable } from '../../http1/field-table.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { RequestContent } from '../exchange.ts';

/** Where a request can be sent: an endpoint of a pool or of a fallback. Compared by identity. */
export interface UpstreamTarget {
  /** The authority: `10.0.0.5:8080`, `[::1]:8080`. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** How TLS is spoken to an endpoint. */
export interface UpstreamTls {
  /** The name that the certificate must be for, asked for by SNI; '' where the endpoint is an IP address. */
  readonly servername: string;
}

export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** From the request, all of it, to the head of its response. */
  readonly responseMs: number;
  /** Between two reads of the response's content. */
  readonly idleMs: number;
}

/** What a request says that goes by HTTP/2. */
export interface Http2Wishes {
  /** Whether the client takes trailers: the word `trailers` in its TE field. */
  readonly takesTrailers: boolean;
  /** What is left of the time that a gRPC client gives (`grpc-timeout`); null where it gives none. */
  readonly grpcTimeoutMs: number | null;
}

export interface UpstreamRequest {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  /** Field lines, each with its CRLF, without Host and the chunked coding. */
  readonly lines: string;
  readonly content: RequestContent | null;
  readonly timeouts: UpstreamTimeouts;
  /** null for plain TCP. */
  readonly tls: UpstreamTls | null;
  /** null where the endpoint speaks HTTP/1.1. */
  readonly http2: Http2Wishes | null;
  /** Lower-case names that the route takes out of trailers too. */
  readonly dropTrailers: ReadonlySet<string> | null;
  /** Whether a kept connection will not do. */
  readonly needsFresh: boolean;
}

/** A failed call. */
export interface UpstreamFailure {
  readonly failure: AttemptFailure;
  /** What the system or the codec said, for the log. */
  readonly detail: string;
  /** Whether a byte of the request may have reached the endpoint. */
  readonly sent: boolean;
  /** Whether it was this machine that ran short of something: that says nothing against the endpoint. */
  readonly isLocal: boolean;
  /** Whether the connection was a kept one that ended before a byte of the response, or before it took the request. */
  readonly stale: boolean;
}

/** What comes back. After `onHead` a failure means that the content broke off. */
export interface UpstreamEvents {
  onInterim(head: ResponseHead): void;
  /** The head is valid until `onEnd`. */
  onHead(head: ResponseHead): void;
  /**
   * False stops the reading until `UpstreamCall.resume`. The octets are a view that is valid until this returns; more than
   * 16 KiB of them (COPIED_BYTES) for good where `isHolding`.
   */
  onContent(octets: Buffer): boolean;
  /** Whether the octets of the last `onContent` are still needed: their memory must not be written to any more. */
  readonly isHolding: boolean;
  /** What arrived has been given: a good moment to send it on. False as with `onContent`. */
  onPause(): boolean;
  onEnd(trailers: FieldTable | undefined): void;
  onFailure(failed: UpstreamFailure): void;
}

/** One call under way. */
export interface UpstreamCall {
  resume(): void;
  /** Frees the connection; no event follows. */
  abort(): void;
}

/** Connections of one worker to all its endpoints. */
export interface Upstream {
  send(to: UpstreamTarget, request: UpstreamRequest, events: UpstreamEvents): UpstreamCall;
  /** The target is gone: its idle connections close at once, the others when they are free. */
  forget(target: UpstreamTarget): void;
  stop(): void;
}

// The seam in front: one request of a client and the means to answer it, whatever codec carries it.
import type { Duplex } from 'node:stream';
import type { FieldTable } from '../http1/field-table.ts';
import type { Framing } from '../http1/framing.ts';
import type { ClientPeer } from './client-address.ts';

/** The head of a request, checked. */
export interface RequestDescription {
  readonly method: string;
  /** In origin form, or `*`. */
  readonly target: string;
  /** The authority: of the target if it was in absolute form, else the Host field. */
  readonly host: string;
  /** Valid until the exchange has ended. */
  readonly fields: FieldTable;
  readonly peer: ClientPeer;
  /** The values of a request field by its lower-case name, joined; undefined when it is absent. */
  header(name: string): string | undefined;
}

/** A response head as it goes to the client. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Field lines, each with its CRLF, without those of the connection and of the chunked coding. */
  readonly lines: string;
  /** Whether the lines have a Date. */
  readonly hasDate: boolean;
  /** How the content that follows is delimited where it comes from. */
  readonly framing: Framing;
}

/** Takes the content of a request. */
export interface ContentSink {
  /**
   * False asks to be spared more until `RequestContent.resume`. The octets may be kept, never changed; more than 16 KiB of
   * them at once only where `isHolding` says so when this returns.
   */
  onContent(octets: Buffer): boolean;
  /** Whether octets that were given are still needed. */
  readonly isHolding: boolean;
  /** All content was given. */
  onContentEnd(trailers: FieldTable | undefined): void;
}

/** The content of a request, given on while it arrives. */
export interface RequestContent {
  readonly framing: Framing;
  /** Whether all of it has arrived. */
  readonly isComplete: boolean;
  /** Whether a new sink would get everything from the first octet on. */
  isReplayable(): boolean;
  /** Gives everything from the first octet on to `sink`, in place of the sink before. */
  attach(sink: ContentSink): void;
  /** The sink wants no more; what arrives is kept for the next one. */
  detach(): void;
  resume(): void;
  /** No new sink will come: what was given is kept no longer. */
  release(): void;
}

/** What the front tells the transaction. */
export interface ExchangeEvents {
  /** The client has read what was written. */
  onDrain(): void;
  /** The client left, stalled, or broke a rule of the content; nothing more will be delivered. */
  onGone(): void;
  /** The content grew beyond the limit. */
  onContentTooLarge(): void;
}

export interface ContentLimits {
  /** The most octets that the content may have. */
  readonly maxBytes: number;
  /** The most octets that are kept for a retry. */
  readonly bufferBytes: number;
}

/** One request and its answer. Exactly one final head is sent; after `end` or `breakOff` nothing more. */
export interface Exchange extends RequestDescription {
  /** The announced length of the content; 0 when there is none, null when it is not announced. */
  readonly announcedBytes: number | null;
  /** The client's HTTP version: 1.0, 1.1 or 2. */
  readonly version: string;
  readonly isHeadSent: boolean;
  /** Whether the client asks for a WebSocket, in a way in which it can have one. */
  readonly isUpgrade: boolean;
  /** Octets of content given to `write` so far. */
  readonly contentBytes: number;
  /** Opens the content for reading; null when the request has none. */
  openContent(limits: ContentLimits): RequestContent | null;
  listen(events: ExchangeEvents): void;
  /** Passes on an interim response where the client's version knows such. */
  sendInterim(status: number, reason: string, lines: string): void;
  sendHead(head: AnswerHead): void;
  /** Whether octets given to `write`, more than COPIED_BYTES at once, have not left yet: their memory must stay as it is. */
  readonly isHolding: boolean;
  /** False when the client reads slower than it is written to: wait for `onDrain`. Up to COPIED_BYTES are copied. */
  write(octets: Buffer): boolean;
  /** Sends at once what `sendHead` and `write` may have collected; false as with `write`. */
  flush(): boolean;
  /** `trailers` are field lines, each with its CRLF. */
  end(trailers: string): void;
  /** Ends the connection so that the client can tell that the answer is incomplete. */
  breakOff(): void;
}

/** What carried an exchange and is its no more: a connection, or what stands for one. */
export interface HandedOver {
  readonly socket: Duplex;
  /** What was read of it, from the request in HTTP/1.1 that asks for the upgrade on. */
  readonly octets: Buffer;
}

/** An exchange whose client can be given a tunnel. */
export interface UpgradableExchange extends Exchange {
  /** Gives away what carries it; nothing more is written here. */
  takeOver(): HandedOver;
}

export function isUpgradable(exchange: Exchange): exchange is UpgradableExchange {
  return exchange.isUpgrade && 'takeOver' in exchange;
}

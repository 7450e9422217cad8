// The seam in front: one request of a client and the means to answer it, whatever codec carries it.
import type { ClientPeer } from './client-address.ts';

/** Fields as on the wire: name, value, name, value …; octets above 0x7f as Latin-1 characters. */
export type RawFields = readonly string[];

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly fields: RawFields;
}

/** The content of a request, read while it arrives. */
export interface RequestContent {
  /** The octets from the first on; a second reader is served from what was kept, then from the connection. */
  read(): AsyncIterable<Uint8Array>;
  /** Whether a new reader would get everything. */
  isReplayable(): boolean;
}

/** What the front tells the transaction. */
export interface ExchangeEvents {
  /** The client has read what was written. */
  onDrain(): void;
  /** The client left, stalled, or sent more than it may; nothing more will be delivered. */
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

/** The head of a request, checked. */
export interface RequestHead {
  readonly method: string;
  /** In origin form, or `*`. */
  readonly target: string;
  /** The authority: of the target if it was in absolute form, else the Host field. */
  readonly host: string;
  readonly fields: RawFields;
  readonly peer: ClientPeer;
  /** The value of a request field by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** One request and its answer. Exactly one final head is sent; after `end` or `breakOff` nothing more. */
export interface Exchange {
  readonly head: RequestHead;
  /** Opens the content for reading; null when the request has none. */
  openContent(limits: ContentLimits): RequestContent | null;
  /** The announced length of the content; null when it is not announced. */
  readonly announcedBytes: number | null;
  listen(events: ExchangeEvents): void;
  /** Passes on an interim response where the client's version knows such. */
  sendInterim(status: number, fields: RawFields): void;
  sendHead(head: ResponseHead): void;
  /** False when the client reads slower than it is written to: wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  end(trailers: RawFields): void;
  /** Ends the connection so that the client can tell that the answer is incomplete. */
  breakOff(): void;
  readonly isHeadSent: boolean;
  /** Octets of content given to `write` so far. */
  readonly contentBytes: number;
}

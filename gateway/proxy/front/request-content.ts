// The content of a request while it arrives: decoded, bounded, and kept up to a size for a second attempt.
import type { DecodedContent } from '../../http1/chunked-decoder.ts';
import { ContentReader } from '../../http1/content-reader.ts';
import type { FieldTable } from '../../http1/field-table.ts';
import type { Framing } from '../../http1/framing.ts';
import type { Violation } from '../../http1/violation.ts';
import type { ContentLimits, ContentSink, RequestContent } from '../exchange.ts';
import type { SocketReader } from '../socket/socket-reader.ts';

/** How much may arrive while nobody takes it. */
const MAX_WAITING_BYTES = 65_536;

export interface ContentOwner {
  /** Stops and starts the reading from the client. */
  pauseContent(): void;
  resumeContent(): void;
  contentTooLarge(): void;
}

/** Finds the content in what arrives, as a ContentReader does. */
export interface ContentSource {
  readonly isWhole: boolean;
  readonly trailers: FieldTable | undefined;
  feed(piece: Buffer, start: number, into: DecodedContent): number | Violation;
}

/** Whose memory the octets are in. */
export type ContentMemory = Pick<SocketReader, 'own' | 'keep' | 'save'>;

export interface ContentParts {
  /** Reads it where its framing alone does not say how it arrives. */
  readonly source?: ContentSource | undefined;
  /** None where octets that arrive are never written over. */
  readonly memory?: ContentMemory;
}

export class IncomingContent implements RequestContent {
  readonly framing: Framing;
  readonly #owner: ContentOwner;
  readonly #source: ContentSource;
  readonly #memory: ContentMemory | undefined;
  #maxBytes = Number.POSITIVE_INFINITY;
  /** How much is kept for a second attempt. */
  #bufferBytes = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** How many of the kept pieces the sink has got. */
  #given = 0;
  #totalBytes = 0;
  #hasLost = false;
  #sink: ContentSink | undefined;
  #isSinkReady = false;
  #hasTooMuch = false;

  constructor(framing: Framing, owner: ContentOwner, { source, memory }: ContentParts) {
    this.framing = framing;
    this.#owner = owner;
    this.#source = source ?? readerOf(framing);
    this.#memory = memory;
  }

  /** Whether all of it has arrived. */
  get isComplete(): boolean {
    return this.#source.isWhole;
  }

  /** Whether any of it has arrived. */
  get hasBegun(): boolean {
    return this.#totalBytes > 0 || this.isComplete;
  }

  /** Content that came with the head may be too much already. */
  setLimits({ maxBytes, bufferBytes }: ContentLimits): void {
    this.#maxBytes = maxBytes;
    this.#bufferBytes = bufferBytes;
    this.#checkSize();
  }

  /** Takes what arrived and returns where the content ended in it, or its length; or the rule that is broken. */
  feed(piece: Buffer, start: number): number | Violation {
    const end = this.#source.feed(piece, start, this);
    if (typeof end === 'number' && this.isComplete) this.#finish();
    return end;
  }

  /** The source became whole by something else than what it was fed. */
  sourceEnded(): void {
    this.#finish();
  }

  /** A piece of decoded content. */
  onContent(view: Buffer): void {
    if (this.#hasTooMuch) return;
    this.#totalBytes += view.length;
    this.#checkSize();
    if (this.#hasTooMuch) return;
    const octets = this.#memory?.own(view) ?? view;
    const sink = this.#sink;
    this.#kept.push(octets);
    this.#keptBytes += octets.length;
    this.#give();
    const isHeld = sink?.isHolding === true || this.#sink?.isHolding === true;
    if (isHeld) this.#memory?.keep(octets);
    else if (this.#kept.length > 0) this.#kept[this.#kept.length - 1] = this.#memory?.save(octets) ?? octets;
    if (this.#kept.length > this.#given && this.#waitingBytes() > MAX_WAITING_BYTES) this.#owner.pauseContent();
  }

  isReplayable(): boolean {
    return !this.#hasLost;
  }

  attach(sink: ContentSink): void {
    this.#sink = sink;
    this.#given = 0;
    this.#isSinkReady = true;
    this.#give();
    if (this.isComplete) this.#finish();
    else if (this.#isSinkReady) this.#owner.resumeContent();
  }

  detach(): void {
    this.#sink = undefined;
    this.#isSinkReady = false;
  }

  resume(): void {
    if (this.#sink === undefined) return;
    this.#isSinkReady = true;
    this.#give();
    if (this.isComplete) this.#finish();
    else if (this.#isSinkReady) this.#owner.resumeContent();
  }

  release(): void {
    this.#bufferBytes = 0;
    this.#letGo();
  }

  #checkSize(): void {
    if (this.#hasTooMuch || this.#totalBytes <= this.#maxBytes) return;
    this.#hasTooMuch = true;
    this.#sink = undefined;
    this.#kept.length = 0;
    this.#owner.contentTooLarge();
  }

  #give(): void {
    while (this.#isSinkReady && this.#sink !== undefined && this.#given < this.#kept.length) {
      const octets = this.#kept[this.#given++];
      if (octets !== undefined && !this.#sink.onContent(octets)) {
        this.#isSinkReady = false;
        this.#owner.pauseContent();
      }
      this.#letGo();
    }
  }

  /** Beyond the size to keep, what was given is let go, and there is no second attempt. */
  #letGo(): void {
    if (this.#keptBytes <= this.#bufferBytes && !this.#hasLost) return;
    for (const octets of this.#kept.splice(0, this.#given)) this.#keptBytes -= octets.length;
    this.#given = 0;
    this.#hasLost = true;
  }

  #finish(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#given < this.#kept.length) return;
    this.#sink = undefined;
    sink.onContentEnd(this.#source.trailers);
  }

  #waitingBytes(): number {
    let bytes = 0;
    for (let at = this.#given; at < this.#kept.length; at++) bytes += this.#kept[at]?.length ?? 0;
    return bytes;
  }
}

function readerOf(framing: Framing): ContentReader {
  const reader = new ContentReader();
  reader.begin(framing);
  return reader;
}

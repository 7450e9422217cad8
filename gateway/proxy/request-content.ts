// The content of a request while it arrives: decoded, bounded, and kept up to a size for a second attempt.
import { ContentReader } from '../http1/content-reader.ts';
import type { Framing } from '../http1/framing.ts';
import type { Violation } from '../http1/violation.ts';
import type { ContentLimits, ContentSink, RequestContent } from './exchange.ts';

/** How much may arrive while nobody takes it. */
const MAX_WAITING_BYTES = 65_536;

export interface ContentOwner {
  /** Stops and starts the reading from the client. */
  pauseContent(): void;
  resumeContent(): void;
  contentTooLarge(): void;
}

export class IncomingContent implements RequestContent {
  readonly framing: Framing;
  readonly #owner: ContentOwner;
  readonly #reader = new ContentReader();
  #limits: ContentLimits = { maxBytes: Number.POSITIVE_INFINITY, bufferBytes: 0 };
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** How many of the kept pieces the sink has got. */
  #given = 0;
  #totalBytes = 0;
  #hasLost = false;
  #sink: ContentSink | undefined;
  #isSinkReady = false;
  #hasTooMuch = false;

  constructor(framing: Framing, owner: ContentOwner) {
    this.framing = framing;
    this.#owner = owner;
    this.#reader.begin(framing);
  }

  /** Whether all of it has arrived. */
  get isComplete(): boolean {
    return this.#reader.isWhole;
  }

  /** Whether any of it has arrived. */
  get hasBegun(): boolean {
    return this.#totalBytes > 0 || this.isComplete;
  }

  /** Content that came with the head may be too much already. */
  setLimits(limits: ContentLimits): void {
    this.#limits = limits;
    this.#checkSize();
  }

  /** Takes what arrived and returns where the content ended in it, or its length; or the rule that is broken. */
  feed(piece: Buffer, start: number): number | Violation {
    const end = this.#reader.feed(piece, start, this);
    if (typeof end === 'number' && this.isComplete) this.#finish();
    return end;
  }

  /** A piece of decoded content. */
  onContent(octets: Buffer): void {
    if (this.#hasTooMuch) return;
    this.#totalBytes += octets.length;
    this.#checkSize();
    if (this.#hasTooMuch) return;
    this.#kept.push(octets);
    this.#keptBytes += octets.length;
    this.#give();
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

  #checkSize(): void {
    if (this.#hasTooMuch || this.#totalBytes <= this.#limits.maxBytes) return;
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
    if (this.#keptBytes <= this.#limits.bufferBytes && !this.#hasLost) return;
    for (const octets of this.#kept.splice(0, this.#given)) this.#keptBytes -= octets.length;
    this.#given = 0;
    this.#hasLost = true;
  }

  #finish(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#given < this.#kept.length) return;
    this.#sink = undefined;
    sink.onContentEnd(this.#reader.trailers);
  }

  #waitingBytes(): number {
    let bytes = 0;
    for (let at = this.#given; at < this.#kept.length; at++) bytes += this.#kept[at]?.length ?? 0;
    return bytes;
  }
}

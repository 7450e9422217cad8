// What a client sends on a stream behind the head of its request: read at the taker's pace, and bounded in time.
import type { ServerHttp2Stream } from 'node:http2';
import type { Framing } from '../../http1/framing.ts';
import type { ClientDeadlines } from '../front/client-deadlines.ts';
import { type ContentOwner, IncomingContent } from '../front/request-content.ts';
import { readTrailers, StreamContent } from './stream-content.ts';

/** The exchange that the content belongs to. */
export interface IntakeOwner {
  /** Nothing of it is wanted any more. */
  readonly isOver: boolean;
  contentTooLarge(): void;
  /** It breaks a rule: nothing of it may look complete anywhere. */
  contentBroken(): void;
}

export class StreamIntake implements ContentOwner {
  readonly content: IncomingContent;
  readonly #stream: ServerHttp2Stream;
  readonly #deadlines: ClientDeadlines;
  readonly #owner: IntakeOwner;
  /** Reads content of no announced length. */
  readonly #unannounced: StreamContent | undefined;

  constructor(stream: ServerHttp2Stream, framing: Framing, parts: { deadlines: ClientDeadlines; owner: IntakeOwner }) {
    this.#stream = stream;
    this.#deadlines = parts.deadlines;
    this.#owner = parts.owner;
    this.#unannounced = framing.kind === 'length' ? undefined : new StreamContent();
    const known: Framing = framing.kind === 'length' ? framing : { kind: 'chunked' };
    this.content = new IncomingContent(known, this, { source: this.#unannounced });
  }

  /** Reads what came with the head: most answers need all of the request. */
  begin(): void {
    const stream = this.#stream;
    this.#deadlines.awaitContent();
    stream.on('trailers', this.#onTrailers).on('end', this.#onEnd).on('data', this.#onData);
    while (!stream.isPaused() && stream.read() !== null);
  }

  pauseContent(): void {
    this.#deadlines.awaitNothing();
    this.#stream.pause();
  }

  resumeContent(): void {
    if (this.#owner.isOver) return;
    this.#deadlines.awaitContent();
    this.#stream.resume();
  }

  contentTooLarge(): void {
    this.#deadlines.awaitNothing();
    this.#owner.contentTooLarge();
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#owner.isOver) return;
    this.#deadlines.contentArrived();
    this.content.feed(piece, 0);
    if (this.content.hasBegun) this.#deadlines.continueSettled();
    if (this.content.isComplete) this.#deadlines.awaitNothing();
  };

  readonly #onTrailers = (_fields: unknown, _flags: number, list: string[]): void => {
    if (this.#owner.isOver || this.#unannounced === undefined) return;
    const trailers = readTrailers(list);
    if (trailers === null) this.#owner.contentBroken();
    else this.#unannounced.trailers = trailers;
  };

  /** The client has ended its side; a stream that was reset ends as well. */
  readonly #onEnd = (): void => {
    if (this.#owner.isOver || this.#stream.aborted || this.#unannounced === undefined) return;
    this.#deadlines.awaitNothing();
    this.#deadlines.continueSettled();
    this.#unannounced.end();
    this.content.sourceEnded();
  };
}

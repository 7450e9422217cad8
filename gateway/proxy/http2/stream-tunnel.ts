// A stream as the relay of tunnels knows a connection: the answer in HTTP/1.1 becomes the stream's, then octets go both ways.
import type { ServerHttp2Stream } from 'node:http2';
import { Duplex } from 'node:stream';
import { connectionOptions } from '../../http1/connection-options.ts';
import { ContentReader } from '../../http1/content-reader.ts';
import { HeadReader } from '../../http1/head-reader.ts';
import { ResponseHead } from '../../http1/response-head.ts';
import type { Exchange } from '../exchange.ts';
import { responseLines } from '../forwarded-fields.ts';

/** The exchange that answers on the stream. */
type TunnelOwner = Pick<Exchange, 'listen' | 'sendHead' | 'write' | 'flush' | 'end' | 'breakOff'>;

type Taken = (error?: Error | null) => void;

/** Heads that node:http has read already. */
const LIMITS = { firstLineBytes: 65_536, fieldsBytes: 1_048_576, fieldCount: 4096 };

/** What an opened tunnel has no use for (RFC 8441 section 5, RFC 9110 section 9.3.6). */
const OPENED = { drop: new Set(['sec-websocket-accept', 'content-length']), lines: '' };
const REFUSED = { drop: null, lines: '' };

export class StreamTunnel extends Duplex {
  /** Octets that went to the client through the tunnel. */
  bytesWritten = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #owner: TunnelOwner;
  readonly #reader = new HeadReader(LIMITS, 'response');
  readonly #content = new ContentReader();
  #phase: 'head' | 'content' | 'opened' | 'answered' = 'head';
  /** The other end broke off: an end of the stream would look as if it had not. */
  #isBroken = false;
  #onTaken: Taken | null = null;

  /** The owner must not read the stream or write to it, but at the tunnel's word. */
  constructor(stream: ServerHttp2Stream, owner: TunnelOwner) {
    super();
    this.#stream = stream;
    this.#owner = owner;
    // It is followed by `close`, which is what counts.
    this.on('error', () => undefined);
    owner.listen({ onDrain: this.#onDrain, onGone: () => this.destroy(), onContentTooLarge: () => undefined });
    stream.pause();
    stream
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('close', () => this.destroy());
    if (stream.destroyed) this.destroy();
  }

  /** For those who take it for a socket: there is no time limit, and nothing to be set. */
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** What a relay does when it has no more to give: at the end of a refusal, or because the service's end broke off. */
  destroySoon(): void {
    if (this.#phase === 'opened' && !this.writableEnded) this.#isBroken = true;
    this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(octets: Buffer, _encoding: BufferEncoding, onTaken: Taken): void {
    const isReady = this.#phase === 'head' ? this.#takeHead(octets) : this.#take(octets, 0);
    if (isReady) onTaken();
    else this.#onTaken = onTaken;
  }

  override _final(onTaken: Taken): void {
    if (this.#phase === 'answered') {
      onTaken();
    } else if (this.#phase !== 'opened') {
      this.destroy();
    } else if (this.#isBroken) {
      // What the service sent before is the client's: a reset would overtake it.
      this.#stream.write('', () => this.destroy());
    } else {
      this.#phase = 'answered';
      this.#stream.once('finish', () => onTaken());
      this.#owner.end('');
    }
  }

  override _destroy(_error: Error | null, onDestroyed: Taken): void {
    if (this.#phase !== 'answered') this.#owner.breakOff();
    onDestroyed();
  }

  readonly #onData = (piece: Buffer): void => {
    if (!this.push(piece)) this.#stream.pause();
  };

  /** A stream that was reset ends as well. */
  readonly #onEnd = (): void => {
    const stream = this.#stream;
    if (stream.aborted || stream.rstCode !== 0) return;
    this.push(null);
    // Also where nobody reads at present.
    this.read(0);
  };

  readonly #onDrain = (): void => {
    const onTaken = this.#onTaken;
    this.#onTaken = null;
    onTaken?.();
  };

  /** False when the client must read first, as below. */
  #takeHead(octets: Buffer): boolean {
    const end = this.#reader.feed(octets);
    if (end === 0) return true;
    const { text } = this.#reader;
    const head = new ResponseHead(LIMITS);
    if (typeof end === 'string' || head.parse(text, text.length, 'GET') !== null) return this.#giveUp();
    const { fields, framing, reason } = head;
    const { nominated } = connectionOptions(fields, head.minor);
    const isOpened = head.status === 101;
    const lines = responseLines(fields, nominated, isOpened ? OPENED : REFUSED);
    const hasDate = fields.get('date') !== undefined;
    if (isOpened) {
      this.#phase = 'opened';
      this.#owner.sendHead({ status: 200, reason, lines, hasDate, framing: { kind: 'close' } });
      this.#owner.flush();
    } else {
      this.#phase = 'content';
      this.#content.begin(framing);
      this.#owner.sendHead({ status: head.status, reason, lines, hasDate, framing });
    }
    return this.#take(octets, end);
  }

  #take(octets: Buffer, start: number): boolean {
    if (this.#phase === 'opened') {
      if (start === octets.length) return true;
      this.bytesWritten += octets.length - start;
      return this.#stream.write(start === 0 ? octets : octets.subarray(start));
    }
    return this.#phase === 'answered' || this.#takeContent(octets, start);
  }

  #takeContent(octets: Buffer, start: number): boolean {
    let isReady = true;
    const onContent = (piece: Buffer): void => {
      this.bytesWritten += piece.length;
      isReady = this.#owner.write(piece);
    };
    const end = this.#content.feed(octets, start, { onContent });
    if (typeof end === 'string') return this.#giveUp();
    if (!this.#content.isWhole) return isReady && this.#owner.flush();
    this.#phase = 'answered';
    this.#owner.end('');
    return true;
  }

  #giveUp(): true {
    this.destroy();
    return true;
  }
}

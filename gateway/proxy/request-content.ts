// The content of a request as node:http delivers it: bounded, timed, and kept up to a size for a second attempt.
import type { IncomingMessage } from 'node:http';
import type { ContentLimits, RequestContent } from './exchange.ts';

export interface ContentOptions extends ContentLimits {
  /** The longest wait between two reads. */
  readonly idleMs: number;
  readonly onTooLarge: () => void;
  readonly onIdle: () => void;
}

/** The client left or broke a rule before the content was complete. */
class ContentBroken extends Error {
  override readonly name = 'ContentBroken';
}

/** Reads a request once and serves any number of readers, one after another. */
export class IncomingContent implements RequestContent {
  readonly #message: IncomingMessage;
  readonly #options: ContentOptions;
  readonly #chunks: Uint8Array[] = [];
  /** The position in the stream of `#chunks[0]`, counted in chunks; above 0 when chunks were let go. */
  #dropped = 0;
  #keptBytes = 0;
  #totalBytes = 0;
  #isComplete = false;
  #broken: ContentBroken | undefined;
  #pulling: Promise<void> | undefined;

  constructor(message: IncomingMessage, options: ContentOptions) {
    this.#message = message;
    this.#options = options;
  }

  isReplayable(): boolean {
    return this.#dropped === 0 && this.#broken === undefined;
  }

  async *read(): AsyncGenerator<Uint8Array> {
    for (let position = 0; ; ) {
      if (this.#broken !== undefined) throw this.#broken;
      if (position < this.#dropped) throw new ContentBroken('the content cannot be read again');
      const chunk = this.#chunks[position - this.#dropped];
      if (chunk !== undefined) {
        position++;
        yield chunk;
        this.#letGo();
      } else if (this.#isComplete) {
        return;
      } else {
        // Readers share one pull: an attempt that was given up must not swallow the chunk it waited for.
        this.#pulling ??= this.#pull();
        await this.#pulling;
      }
    }
  }

  /** Beyond the size to keep, what was read is let go and there is no second attempt. */
  #letGo(): void {
    if (this.#keptBytes <= this.#options.bufferBytes) return;
    this.#dropped += this.#chunks.length;
    this.#chunks.length = 0;
    this.#keptBytes = 0;
  }

  async #pull(): Promise<void> {
    try {
      const chunk = await this.#nextChunk();
      if (chunk === null) {
        this.#isComplete = true;
        return;
      }
      this.#totalBytes += chunk.length;
      if (this.#totalBytes > this.#options.maxBytes) {
        this.#broken = new ContentBroken('the content is too large');
        this.#options.onTooLarge();
        return;
      }
      this.#chunks.push(chunk);
      this.#keptBytes += chunk.length;
    } finally {
      this.#pulling = undefined;
    }
  }

  #nextChunk(): Promise<Uint8Array | null> {
    const message = this.#message;
    return new Promise((resolve) => {
      const settle = (chunk: Uint8Array | null): void => {
        clearTimeout(timer);
        message.off('readable', onReadable).off('end', onReadable).off('close', onReadable).off('error', onReadable);
        resolve(chunk);
      };
      const onReadable = (): void => {
        const chunk: Uint8Array | null = message.read();
        if (chunk !== null) settle(chunk);
        else if (message.readableEnded) settle(null);
        else if (message.destroyed || message.errored) {
          this.#broken = new ContentBroken('the client left before the content was complete');
          settle(null);
        }
      };
      const timer = setTimeout(() => {
        this.#broken = new ContentBroken('the content did not arrive in time');
        settle(null);
        this.#options.onIdle();
      }, this.#options.idleMs);
      message.on('readable', onReadable).on('end', onReadable).on('close', onReadable).on('error', onReadable);
      onReadable();
    });
  }
}

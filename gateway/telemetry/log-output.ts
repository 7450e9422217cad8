// Standard output for the log, written in the background: what cannot be written is dropped, never waited for.
import pino, { type DestinationStream } from 'pino';

export interface LogOutput extends DestinationStream {
  /** Lines that were dropped because the output failed or its reader was too slow. */
  readonly dropped: number;
  /** Writes what is still held back. */
  flushSync(): void;
}

/** How much may wait for a slow reader. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long after a failure nothing is tried. */
const REST_MS = 1000;

type Destination = ReturnType<typeof pino.destination>;

export class StandardOutput implements LogOutput {
  #destination: Destination | undefined;
  #restUntilMs = 0;
  dropped = 0;

  write(line: string): void {
    const destination = this.#destination ?? this.#open();
    if (destination === undefined) this.dropped++;
    else destination.write(line);
  }

  flushSync(): void {
    this.#destination?.flushSync();
  }

  #open(): Destination | undefined {
    if (performance.now() < this.#restUntilMs) return undefined;
    const destination = pino.destination({ dest: 1, sync: false, maxLength: MAX_WAITING_BYTES });
    // A destination that has failed would try for ever when it is flushed: it is given up, with what it holds.
    destination.on('error', () => {
      this.#destination = undefined;
      this.#restUntilMs = performance.now() + REST_MS;
      this.dropped++;
      destination.destroy();
    });
    destination.on('drop', () => {
      this.dropped++;
    });
    this.#destination = destination;
    return destination;
  }
}

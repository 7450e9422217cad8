// The log: JSON lines by pino. One thread owns the output; the others send it their lines.
import pino, { type DestinationStream, type Logger } from 'pino';

export function createLogger(options: { level: string; output: DestinationStream }): Logger {
  const { level, output } = options;
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, output);
}

/** How long a line may wait for others, and how much may wait. */
const BATCH_MS = 100;
const BATCH_CHARACTERS = 32_768;

/** The output of a thread that does not own it: collects lines and passes them on in batches. */
export class LogRelay implements DestinationStream {
  readonly #send: (lines: string) => void;
  #lines: string[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (lines: string) => void) {
    this.#send = send;
  }

  write(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= BATCH_CHARACTERS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), BATCH_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length === 0) return;
    const lines = this.#lines.join('');
    this.#lines = [];
    this.#characters = 0;
    this.#send(lines);
  }
}

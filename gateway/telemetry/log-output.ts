// Where the log goes: standard output or a file, in the background; what cannot be written is dropped, never waited for.
import pino, { type DestinationStream } from 'pino';
import { prettyFactory } from 'pino-pretty';

export interface LogOutput extends DestinationStream {
  /** Lines that were dropped because the output failed or its reader was too slow. */
  readonly dropped: number;
  /** Writes what is still held back. */
  flushSync(): void;
  /** Opens the file anew: another program has moved it away. Does nothing to standard output. */
  reopen(): void;
}

export interface LogOutputOptions {
  /** A file that is appended to; '' for standard output. */
  readonly file: string;
  /** `pretty` is for people. */
  readonly format: 'json' | 'pretty';
}

/** How much may wait for a slow reader. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long after a failure nothing is tried. */
const REST_MS = 1000;

type Destination = ReturnType<typeof pino.destination>;

export class BackgroundOutput implements LogOutput {
  readonly #file: string;
  readonly #pretty: ((line: string) => string) | null;
  #destination: Destination | undefined;
  #restUntilMs = 0;
  dropped = 0;

  constructor({ file, format }: LogOutputOptions) {
    this.#file = file;
    const colorize = file === '' && process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
    this.#pretty = format === 'json' ? null : prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l' });
  }

  write(lines: string): void {
    const destination = this.#destination ?? this.#open();
    if (destination === undefined) this.dropped += linesIn(lines);
    else destination.write(withoutControls(this.#pretty === null ? lines : prettyLines(lines, this.#pretty)));
  }

  flushSync(): void {
    try {
      this.#destination?.flushSync();
    } catch {
      // What cannot be written at the end is lost; the gateway ends all the same.
      this.dropped++;
    }
  }

  reopen(): void {
    if (this.#file !== '') this.#destination?.reopen();
  }

  #open(): Destination | undefined {
    if (performance.now() < this.#restUntilMs) return undefined;
    const dest = this.#file === '' ? 1 : this.#file;
    const destination = pino.destination({ dest, sync: false, mkdir: true, maxLength: MAX_WAITING_BYTES });
    // A destination that has failed would try for ever when it is flushed: it is given up, with what it holds.
    destination.on('error', () => {
      this.#destination = undefined;
      this.#restUntilMs = performance.now() + REST_MS;
      this.dropped++;
      destination.destroy();
    });
    destination.on('drop', (lines: string) => {
      this.dropped += linesIn(lines);
    });
    this.#destination = destination;
    return destination;
  }
}

function linesIn(lines: string): number {
  return lines.split('\n').length - 1;
}

/** Control characters and line ends that JSON leaves as they are, written out: a terminal or a log reader would obey them. */
function withoutControls(lines: string): string {
  return lines.replace(/[\x7f-\x9f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Lines that are no JSON, those of the combined access log, stay as they are. */
function prettyLines(lines: string, pretty: (line: string) => string): string {
  return lines
    .split('\n')
    .map((line) => (line.startsWith('{') ? pretty(line) : line === '' ? '' : `${line}\n`))
    .join('');
}

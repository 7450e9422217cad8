// Clients that ask again and again over HTTP/2, as browsers do: what was not taken is asked again on another connection.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';

export interface Http2Load {
  /** Answered whole, with status 200 and the content that was expected. */
  readonly answered: number;
  /** Requests that the gateway said it had not taken (RFC 9113 section 8.7), or that found their session ended. */
  readonly askedAgain: number;
  /** Sessions that the gateway ended with GOAWAY and no error. */
  readonly goaways: number;
  /** What was lost: a wrong answer, one that broke off, or none. */
  readonly lost: readonly string[];
  stop(): Promise<void>;
}

export interface Http2LoadOptions {
  readonly port: number;
  readonly ca: string;
  readonly path: string;
  readonly content: string;
  readonly sessions: number;
  /** Requests under way at a time on each of them. */
  readonly streams: number;
}

export function startHttp2Load(options: Http2LoadOptions): Http2Load {
  const load = new Load(options);
  load.start();
  return load;
}

class Load implements Http2Load {
  answered = 0;
  askedAgain = 0;
  goaways = 0;
  readonly lost: string[] = [];
  readonly #options: Http2LoadOptions;
  #clients: Promise<void>[] = [];
  #isOver = false;

  constructor(options: Http2LoadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#clients = Array.from({ length: this.#options.sessions }, () => this.#client());
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #client(): Promise<void> {
    while (!this.#isOver) {
      const session = this.#open();
      await Promise.all(Array.from({ length: this.#options.streams }, () => this.#askWhileOpen(session)));
      session.close();
    }
  }

  #open(): ClientHttp2Session {
    const { port, ca } = this.#options;
    const session = connect(`https://localhost:${port}`, { ca, host: '127.0.0.1' });
    session.on('error', () => undefined);
    session.on('goaway', (code) => {
      if (code === constants.NGHTTP2_NO_ERROR) this.goaways++;
      else this.lost.push(`the session ended with ${code}`);
    });
    return session;
  }

  async #askWhileOpen(session: ClientHttp2Session): Promise<void> {
    while (!this.#isOver && !session.closed && !session.destroyed) {
      const outcome = await this.#ask(session.request({ ':path': this.#options.path }));
      if (outcome === 'answered') this.answered++;
      else if (outcome === 'not taken') this.askedAgain++;
      else this.lost.push(outcome);
    }
  }

  #ask(stream: ClientHttp2Stream): Promise<string> {
    let status = 0;
    let content = '';
    let why = '';
    stream.on('response', (fields) => {
      status = Number(fields[':status']);
    });
    stream.setEncoding('latin1').on('data', (piece: string) => {
      content += piece;
    });
    stream.on('error', ({ message }) => {
      why = message;
    });
    return new Promise((resolve) => {
      stream.on('close', () => {
        if (status === 200 && content === this.#options.content && stream.rstCode === 0) resolve('answered');
        else if (status === 0 && isUntaken(stream)) resolve('not taken');
        else resolve(`status ${status}, ${content.length} octets, code ${stream.rstCode} ${why}`);
      });
    });
  }
}

/** Refused, or never sent at all. */
function isUntaken({ rstCode, pending }: ClientHttp2Stream): boolean {
  return rstCode === constants.NGHTTP2_REFUSED_STREAM || pending;
}

// Clients that POST again and again, each on a connection that it keeps, and a strict account of what became of that.
import { Agent, request } from 'node:http';

export interface Posted {
  /** Of the answer. */
  readonly status: number;
  /** As the gateway says it in `X-Gateway`. */
  readonly gateway: string;
  readonly isLast: boolean;
  readonly startedMs: number;
}

export interface LostPost {
  /** The path that no other request has. */
  readonly path: string;
  readonly why: string;
}

export interface PostingClients {
  readonly answers: readonly Posted[];
  readonly lost: readonly LostPost[];
  /** Lets the requests under way end. */
  stop(): Promise<void>;
}

/** Starts the clients; every request has a path of its own, which is its body too, and the answer must repeat it. */
export function startPosting(port: number, clients: number): PostingClients {
  const posting = new Posting(port);
  posting.start(clients);
  return posting;
}

class Posting implements PostingClients {
  readonly answers: Posted[] = [];
  readonly lost: LostPost[] = [];
  readonly #port: number;
  #number = 0;
  #isOver = false;
  #clients: Promise<void>[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  start(clients: number): void {
    this.#clients = Array.from({ length: clients }, () => this.#client());
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #client(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.#isOver) await this.#post(agent);
    agent.destroy();
  }

  #post(agent: Agent): Promise<void> {
    const path = `/post/${this.#number++}`;
    const startedMs = Date.now();
    const headers = { 'Content-Type': 'text/plain', 'Content-Length': path.length };
    return new Promise((resolve) => {
      const call = request({ agent, port: this.#port, host: '127.0.0.1', method: 'POST', path, headers });
      const lose = (why: string) => {
        this.lost.push({ path, why });
        resolve();
      };
      call.on('error', (error) => lose(error.message));
      call.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', (error) => lose(`after the head: ${error.message}`));
        response.on('end', () => {
          if (text !== path) return lose(`${response.statusCode} ${text}`);
          const { statusCode: status = 0, headers: fields } = response;
          const isLast = fields.connection === 'close';
          this.answers.push({ status, gateway: String(fields['x-gateway']), isLast, startedMs });
          resolve();
        });
      });
      call.end(path);
    });
  }
}

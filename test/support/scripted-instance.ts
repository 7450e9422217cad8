// An instance in the test's own process that answers as it is told to, and remembers what it was asked.
import type { ServerResponse } from 'node:http';
import { type LocalServer, startHttpServer } from './local-server.ts';
import { waitFor } from './wait-for.ts';

export class ScriptedInstance {
  /** What it answers with, until told otherwise. */
  status = 200;
  /** Whether requests wait for `release`. */
  isHolding = false;
  requests = 0;
  /** The most requests that it ever had at a time. */
  mostAtOnce = 0;
  readonly name: string;
  readonly #held: ServerResponse[] = [];
  #atOnce = 0;
  #server: LocalServer | undefined;

  private constructor(name: string) {
    this.name = name;
  }

  /** Starts one on a free port. It answers with its name. */
  static async start(name: string): Promise<ScriptedInstance> {
    const instance = new ScriptedInstance(name);
    instance.#server = await startHttpServer((request, response) => {
      request.resume();
      instance.#take(response);
    });
    return instance;
  }

  get address(): string {
    return `127.0.0.1:${this.#server?.port ?? 0}`;
  }

  /** Requests that wait for their answer. */
  get held(): number {
    return this.#held.length;
  }

  /** Waits until that many requests are held. */
  async untilHeld(count: number): Promise<void> {
    await waitFor(() => this.held === count, { limitMs: 10_000, what: `${count} requests at ${this.name}` });
  }

  /** Answers what is held, and from now on everything at once. */
  release(): void {
    this.isHolding = false;
    for (const response of this.#held.splice(0)) this.#answer(response);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  #take(response: ServerResponse): void {
    this.requests++;
    this.#atOnce++;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    response.once('close', () => {
      this.#atOnce--;
    });
    if (this.isHolding) this.#held.push(response);
    else this.#answer(response);
  }

  #answer(response: ServerResponse): void {
    response.writeHead(this.status, { 'X-Instance': this.name, 'Content-Length': this.name.length }).end(this.name);
  }
}

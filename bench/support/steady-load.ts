// Steady load for drills: clients that ask again and again, and a count of what failed since it was last looked at.
import { setTimeout as delay } from 'node:timers/promises';
import { Pool, request } from 'undici';

export interface LoadCount {
  readonly requests: number;
  readonly failed: number;
  /** Those of the failed whose answer broke off after its head. */
  readonly truncated: number;
  /** Answers that came from a fallback. */
  readonly degraded: number;
  readonly slowestMs: number;
  /** What went wrong, with how often. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface TimedCount extends LoadCount {
  /** When each of the errors happened first and last, in milliseconds since the count began. */
  readonly spans: Readonly<Record<string, FailureSpan>>;
}

export interface FailureSpan {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** As much of an answer's text as tells one fault from another. */
const MAX_TOLD = 200;

export class SteadyLoad {
  readonly #url: string;
  readonly #clients: Promise<void>[];
  #isOver = false;
  #requests = 0;
  #failed = 0;
  #truncated = 0;
  #degraded = 0;
  #slowestMs = 0;
  #errors: Record<string, number> = {};
  #spans: Record<string, FailureSpan> = {};
  #begunMs = performance.now();

  /** Half of the clients keep their connection, half open one for each request; each rests `restMs` in between. */
  constructor(url: string, options: { clients: number; restMs: number }) {
    this.#url = url;
    this.#clients = Array.from({ length: options.clients }, (_, at) => this.#client(at % 2 === 0, options.restMs));
  }

  /** What happened since the last call. */
  take(): TimedCount {
    const count = {
      requests: this.#requests,
      failed: this.#failed,
      truncated: this.#truncated,
      degraded: this.#degraded,
      slowestMs: Math.round(this.#slowestMs),
      errors: this.#errors,
      spans: this.#spans,
    };
    this.#requests = this.#failed = this.#truncated = this.#degraded = this.#slowestMs = 0;
    this.#errors = {};
    this.#spans = {};
    this.#begunMs = performance.now();
    return count;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #client(isKept: boolean, restMs: number): Promise<void> {
    const pool = new Pool(this.#url, { connections: 1 });
    while (!this.#isOver) {
      const begun = performance.now();
      let hasHead = false;
      try {
        const answer = isKept
          ? await pool.request({ path: '/steady', method: 'GET' })
          : await request(`${this.#url}/steady`, { headers: { connection: 'close' } });
        hasHead = true;
        // Unlike `dump`, this tells of content that broke off.
        const text = await answer.body.text();
        this.#requests++;
        if (answer.headers['x-degraded'] !== undefined) this.#degraded++;
        if (answer.statusCode !== 200) this.#fail(`status ${answer.statusCode}: ${faultIn(text)}`);
      } catch (error) {
        this.#requests++;
        if (hasHead) this.#truncated++;
        this.#fail(error instanceof Error ? error.message : String(error));
      }
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - begun);
      await delay(restMs);
    }
    await pool.close();
  }

  #fail(what: string): void {
    this.#failed++;
    this.#errors[what] = (this.#errors[what] ?? 0) + 1;
    const lastMs = Math.round(performance.now() - this.#begunMs);
    this.#spans[what] = { firstMs: this.#spans[what]?.firstMs ?? lastMs, lastMs };
  }
}

/** The detail of a problem (RFC 9457), which tells why the gateway answered by itself; else the text of the service. */
function faultIn(text: string): string {
  try {
    const { detail }: { readonly detail?: unknown } = JSON.parse(text);
    if (typeof detail === 'string') return detail;
  } catch {
    // It is no JSON.
  }
  return text.slice(0, MAX_TOLD);
}

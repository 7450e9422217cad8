// A client beside an attack: it asks on a new connection each time, and notes how long that took and what failed.
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { percentiles } from './percentiles.ts';

const REST_MS = 20;
/** A client that waits longer has gone elsewhere. */
const PATIENCE_MS = 5000;

export class Bystander {
  readonly #url: string;
  readonly #asking: Promise<void>;
  readonly #timesMs: number[] = [];
  readonly #failures = new Map<string, number>();
  #isOver = false;

  /** Asks for the URL until it is stopped, whatever certificate it is shown. */
  constructor(url: string) {
    this.#url = url;
    this.#asking = this.#ask();
  }

  /** Whether it was answered at all, and always. */
  get isContent(): boolean {
    return this.#timesMs.length > 0 && this.#failures.size === 0;
  }

  /** `123 answered, p50 …, p99 …, most …`, and what failed. */
  toString(): string {
    const failed = [...this.#failures].map(([why, times]) => `${times} × ${why}`).join(', ');
    return `${this.#timesMs.length} answered, ${percentiles(this.#timesMs)}${failed === '' ? '' : `; FAILED: ${failed}`}`;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#asking;
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      const begunMs = performance.now();
      const outcome = await this.#askOnce();
      if (outcome === 200) this.#timesMs.push(performance.now() - begunMs);
      else this.#failures.set(String(outcome), (this.#failures.get(String(outcome)) ?? 0) + 1);
      await delay(REST_MS);
    }
  }

  #askOnce(): Promise<number | string> {
    const options = { agent: false, rejectUnauthorized: false, timeout: PATIENCE_MS };
    return new Promise((resolve) => {
      const request = (this.#url.startsWith('https:') ? requestSecure : requestPlain)(this.#url, options, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
        answer.on('error', ({ message }) => resolve(message));
      });
      request.on('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', ({ message }) => resolve(message));
      request.end();
    });
  }
}

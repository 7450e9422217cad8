// Until when a client may keep its connection waiting, in each phase of it.
import type { GatewayConfig } from '../../config/gateway-schema.ts';
import type { Sweep } from '../sweep.ts';

/** How long a client that waits for a 100 waits for the endpoint to say it. */
const CONTINUE_MS = 500;
/** How long an answer may pause when the client has sent its FIN: it may have left altogether. */
const HALF_CLOSED_MS = 900;
/** How long, after an answer that ends the connection, what the client still sends is read and dropped. */
const LINGER_MS = 2000;
/**
 * How long a connection without a request lives on when no more are accepted: a request may be on its way, or follow at
 * once when a busy client has read its answer.
 */
const LAST_REQUEST_MS = 1000;
const NEVER = Number.POSITIVE_INFINITY;

export class ClientDeadlines {
  readonly #sweep: Sweep;
  readonly #timeouts: GatewayConfig['timeouts'];
  #nextMs = NEVER;
  #writeMs = NEVER;
  #continueMs = NEVER;

  constructor(sweep: Sweep, timeouts: GatewayConfig['timeouts']) {
    this.#sweep = sweep;
    this.#timeouts = timeouts;
    this.awaitHead();
  }

  /** The whole head must arrive in this time, however it is spread. */
  awaitHead(): void {
    this.#nextMs = this.#sweep.nowMs + this.#timeouts.requestHeadMs;
  }

  awaitNextRequest(): void {
    this.#nextMs = this.#sweep.nowMs + this.#timeouts.keepAliveMs;
  }

  /** Some content must arrive in this time. */
  awaitContent(): void {
    this.#nextMs = this.#sweep.nowMs + this.#timeouts.requestBodyMs;
  }

  /** Content has arrived; means nothing while it is not waited for. */
  contentArrived(): void {
    if (this.#nextMs !== NEVER) this.awaitContent();
  }

  /** The listener drains: a request that is on its way has this time to arrive. */
  awaitLastRequest(): void {
    this.#nextMs = this.#sweep.nowMs + LAST_REQUEST_MS;
  }

  /** Nothing is expected of the client. */
  awaitNothing(): void {
    this.#nextMs = NEVER;
  }

  /** The client has sent its FIN and may be gone. */
  awaitProgress(): void {
    this.#nextMs = this.#sweep.nowMs + HALF_CLOSED_MS;
  }

  /** All was written: what the client still sends is read for a while. */
  linger(): void {
    this.#writeMs = NEVER;
    this.#nextMs = this.#sweep.nowMs + LINGER_MS;
  }

  /** The client must read what was written in this time; it begins with the first write that it does not take. */
  awaitReader(): void {
    if (this.#writeMs === NEVER) this.#writeMs = this.#sweep.nowMs + this.#timeouts.writeMs;
  }

  readerCaughtUp(): void {
    this.#writeMs = NEVER;
  }

  /** The endpoint has this time to say that the content is wanted. */
  awaitContinue(): void {
    this.#continueMs = this.#sweep.nowMs + CONTINUE_MS;
  }

  continueSettled(): void {
    this.#continueMs = NEVER;
  }

  /** What is due; each is told once, or again when its deadline was set anew. */
  due(nowMs: number): 'continue' | 'stalled' | 'late' | null {
    if (nowMs > this.#continueMs) {
      this.#continueMs = NEVER;
      return 'continue';
    }
    if (nowMs > this.#writeMs) return 'stalled';
    return nowMs > this.#nextMs ? 'late' : null;
  }
}

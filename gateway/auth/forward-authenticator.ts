// Another service decides who may come in: it is asked about every request.
import { Pool } from 'undici';
import { withoutQuery } from '../access/access-outline.ts';
import type { ForwardRules } from '../access/access-rules.ts';
import { type ForwardAnswer, forwardFields, forwardVerdict, type ToldFields } from '../access/forward-exchange.ts';
import {
  type Authenticator,
  type Decided,
  type PendingCheck,
  type RequestFacts,
  UNAVAILABLE,
  type Verdict,
} from '../access/gatekeeper.ts';
import { ownFields, userFieldOf } from '../access/own-fields.ts';
import type { Clock } from '../core/clock.ts';
import { describeFailure } from '../core/describe-failure.ts';
import type { Log } from '../core/log.ts';
import { OutageLog } from './outage-log.ts';

const MOST_CONNECTIONS = 128;

/** Requests that wait for an answer at a time, those that wait for a connection included. */
const MOST_OPEN = 1024;

/** The most that a client is given of what the service says; of more it gets nothing. */
const MAX_CONTENT_BYTES = 64 * 1024;

export interface ForwardParts {
  readonly clock: Clock;
  readonly log: Log;
}

interface Asked {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
}

export class ForwardAuthenticator implements Authenticator {
  readonly ownFields: ReadonlySet<string>;
  readonly #rules: ForwardRules;
  readonly #told: ToldFields;
  readonly #path: string;
  readonly #pool: Pool;
  readonly #outage: OutageLog;
  #open = 0;
  /** Whether there may be a connection that was used before. */
  #keepsConnections = false;

  constructor(rules: ForwardRules, { clock, log }: ForwardParts) {
    const { origin, pathname, search } = new URL(rules.url);
    this.#rules = rules;
    this.#path = pathname + search;
    this.#outage = new OutageLog({ clock, log, fields: { authentication: withoutQuery(rules.url) } });
    const { responseHeaders } = rules;
    this.#told = { responseHeaders, userField: userFieldOf(responseHeaders) };
    this.ownFields = ownFields(responseHeaders);
    this.#pool = new Pool(origin, {
      connections: MOST_CONNECTIONS,
      allowH2: false,
      // The time of a request is counted as a whole.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: rules.timeoutMs },
    });
  }

  check(request: RequestFacts, decided: Decided): PendingCheck | null {
    if (this.#open >= MOST_OPEN) {
      decided(UNAVAILABLE);
      return null;
    }
    this.#open++;
    const ended = new AbortController();
    let isCancelled = false;
    this.#verdict(request, ended).then((verdict) => {
      this.#open--;
      if (!isCancelled) decided(verdict);
    });
    return {
      cancel: () => {
        isCancelled = true;
        ended.abort();
      },
    };
  }

  /** Lets what is under way end; no more is asked. */
  async stop(): Promise<void> {
    await this.#pool.close();
  }

  /** Does not reject. */
  async #verdict(request: RequestFacts, ended: AbortController): Promise<Verdict> {
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      ended.abort();
    }, this.#rules.timeoutMs);
    try {
      const headers = forwardFields(this.#rules, request);
      const answer = await this.#ask({ path: this.#path, headers, signal: ended.signal });
      const verdict = forwardVerdict(this.#told, answer, request.requestId);
      if (verdict === UNAVAILABLE) this.#failed(`status ${answer.status}, or a field that is none`);
      else this.#outage.succeeded();
      return verdict;
    } catch (error) {
      // A client that left says nothing about the service.
      if (!ended.signal.aborted || isOverdue) {
        this.#failed(isOverdue ? `no answer within ${this.#rules.timeoutMs} ms` : describeFailure(error));
      }
      return UNAVAILABLE;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A kept connection may be closed by the service when a request is on its way: that one is asked once more. */
  async #ask(asked: Asked): Promise<ForwardAnswer> {
    try {
      const answer = await this.#askOnce(asked);
      this.#keepsConnections = true;
      return answer;
    } catch (error) {
      if (!this.#keepsConnections || !isCutOff(error) || asked.signal.aborted) throw error;
      return this.#askOnce(asked);
    }
  }

  async #askOnce({ path, headers, signal }: Asked): Promise<ForwardAnswer> {
    const response = await this.#pool.request({ path, method: 'GET', headers, signal });
    const { statusCode: status, body } = response;
    const isGood = status >= 200 && status < 300;
    if (!isGood && status < 500) return { status, headers: response.headers, content: await contentOf(body) };
    await body.dump({ limit: MAX_CONTENT_BYTES, signal }).catch(() => undefined);
    return { status, headers: response.headers, content: null };
  }

  #failed(error: string): void {
    this.#outage.failed(error, 'the service for authentication cannot be used: nobody comes in');
  }
}

const CUT_OFF: readonly string[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

function isCutOff(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CUT_OFF.includes(String(error.code));
}

/** All octets; null for more than a client is given. */
async function contentOf(body: AsyncIterable<Uint8Array>): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > MAX_CONTENT_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

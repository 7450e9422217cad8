// One exchange of a JSON document, bounded in time and size: a body, or a sentence that says what went wrong.
import { Pool } from 'undici';
import { describeFailure } from '../core/describe-failure.ts';
import { quote } from '../core/quote.ts';
import type { QueryMeter } from './source.ts';
import { createTlsConnector, type TlsFiles } from './tls-connector.ts';

export interface GetPoolOptions {
  readonly connections: number;
  /** For an `https` URL. */
  readonly tls?: TlsFiles;
}

export interface GetRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON that is sent with POST; absent: GET. */
  readonly body?: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly meter?: QueryMeter | undefined;
}

export type GetResult =
  | { readonly kind: 'body'; readonly text: string; readonly headers: Headers }
  | { readonly kind: 'failure'; readonly error: string };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Largest body in bytes: some ten thousand instances. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

const CONNECT_TIMEOUT_MS = 3000;

/** A pool of at most `connections` to the origin of `url`; the deadline of each request is the only other clock. */
export function createGetPool(url: URL, { connections, tls }: GetPoolOptions): Pool {
  const isOverTls = url.protocol === 'https:' && tls !== undefined;
  return new Pool(url.origin, {
    connections,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_BODY_BYTES,
    connect: isOverTls ? createTlsConnector(tls, CONNECT_TIMEOUT_MS) : { timeout: CONNECT_TIMEOUT_MS },
  });
}

/**
 * Asks once. Only a 200 with a whole, uncompressed body that is not declared as something else than JSON is a `body`;
 * redirects are not followed. Aborting `signal` ends the request and closes its connection.
 */
export async function getJson(pool: Pool, request: GetRequest): Promise<GetResult> {
  const startedMs = performance.now();
  const result = await ask(pool, request);
  // A query that was called off says nothing about the source.
  if (!request.signal.aborted) {
    request.meter?.(result.kind === 'body' ? 'answer' : 'failure', performance.now() - startedMs);
  }
  return result;
}

async function ask(pool: Pool, request: GetRequest): Promise<GetResult> {
  const { target, headers, body, deadlineMs, signal } = request;
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, deadlineMs);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const accept = { accept: 'application/json', ...headers };
    const method = body === undefined ? 'GET' : 'POST';
    const options = { method, path: target, headers: accept, body: body ?? null, signal: ended.signal } as const;
    const response = await pool.request(options);
    const text = await response.body.text();
    const error = responseError(response.statusCode, response.headers, text);
    return error === null ? { kind: 'body', text, headers: response.headers } : { kind: 'failure', error };
  } catch (error) {
    const isOverdue = ended.signal.aborted && !signal.aborted;
    return {
      kind: 'failure',
      error: isOverdue ? `no answer within ${Math.round(deadlineMs)} ms` : describeRequestFailure(error),
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** Why a response is not a JSON document; null when it is one. */
export function responseError(status: number, headers: Headers, text: string): string | null {
  if (status !== 200) return `status ${status}${text.trim() === '' ? '' : `: ${quote(text.trim(), 120)}`}`;
  const coding = String(headers['content-encoding'] ?? 'identity');
  if (coding.toLowerCase() !== 'identity') return `content coding ${quote(coding)} was not asked for`;
  const type = String(headers['content-type'] ?? 'application/json');
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type) ? null : `content type ${quote(type)} is not JSON`;
}

/** What stands behind the limits of these questions. */
const OWN_SENTENCES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: `the answer is larger than ${MAX_BODY_BYTES} bytes`,
};

/** A sentence about what a request threw. */
export function describeRequestFailure(error: unknown): string {
  return describeFailure(error, OWN_SENTENCES);
}

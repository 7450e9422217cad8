// One GET of a JSON document, bounded in time and size: a body, or a sentence that says what went wrong.
import { errors, Pool } from 'undici';
import { quote } from '../core/quote.ts';

export interface GetRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

export type GetResult =
  | { readonly kind: 'body'; readonly text: string; readonly headers: Headers }
  | { readonly kind: 'failure'; readonly error: string };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Largest body in bytes: some ten thousand instances. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

const CONNECT_TIMEOUT_MS = 3000;

/** A pool of at most `connections` to the origin of `url`; the deadline of each request is the only other clock. */
export function createGetPool(url: URL, connections: number): Pool {
  return new Pool(url.origin, {
    connections,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_BODY_BYTES,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
}

/**
 * Asks once. Only a 200 with a whole, uncompressed body that is not declared as something else than JSON is a `body`;
 * redirects are not followed. Aborting `signal` ends the request and closes its connection.
 */
export async function getJson(pool: Pool, request: GetRequest): Promise<GetResult> {
  const { target, headers, deadlineMs, signal } = request;
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, deadlineMs);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const accept = { accept: 'application/json', ...headers };
    const response = await pool.request({ method: 'GET', path: target, headers: accept, signal: ended.signal });
    const text = await response.body.text();
    const error = responseError(response.statusCode, response.headers, text);
    return error === null ? { kind: 'body', text, headers: response.headers } : { kind: 'failure', error };
  } catch (error) {
    const isOverdue = ended.signal.aborted && !signal.aborted;
    return { kind: 'failure', error: isOverdue ? `no answer within ${Math.round(deadlineMs)} ms` : describe(error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

function responseError(status: number, headers: Headers, text: string): string | null {
  if (status !== 200) return `status ${status}${text.trim() === '' ? '' : `: ${quote(text.trim(), 120)}`}`;
  const coding = String(headers['content-encoding'] ?? 'identity');
  if (coding.toLowerCase() !== 'identity') return `content coding ${quote(coding)} was not asked for`;
  const type = String(headers['content-type'] ?? 'application/json');
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type) ? null : `content type ${quote(type)} is not JSON`;
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name does not resolve at present',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: `the answer is larger than ${MAX_BODY_BYTES} bytes`,
};

function describe(error: unknown): string {
  if (!(error instanceof Error)) return quote(String(error));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof errors.SocketError)
    return SENTENCES[code] ?? 'the connection was closed before the answer was whole';
  return SENTENCES[code] ?? quote(error.message === '' ? error.name : error.message, 120);
}

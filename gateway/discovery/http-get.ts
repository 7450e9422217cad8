// One exchange of a JSON document, bounded in time and size: a body, or a sentence that says what went wrong.
import { type Dispatcher, Pool } from 'undici';
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

const UTF8 = new TextDecoder();

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

function ask(pool: Pool, request: GetRequest): Promise<GetResult> {
  return new Promise((resolve) => new Exchange(request, resolve).begin(pool));
}

/**
 * By undici's lowest seam: what stands above it makes a stream of each body and a promise of each step, which is most of
 * the cost where one change in Consul has hundreds of services asked.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: GetRequest;
  readonly #resolve: (result: GetResult) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #endedBy: Error | undefined;
  #status = 0;
  #headers: Headers = {};

  constructor(request: GetRequest, resolve: (result: GetResult) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#timer = setTimeout(this.#onOverdue, request.deadlineMs);
  }

  begin(pool: Pool): void {
    const { target, headers, body = null, signal } = this.#request;
    if (signal.aborted) {
      this.#onAborted();
      return;
    }
    signal.addEventListener('abort', this.#onAborted, { once: true });
    const method = body === null ? 'GET' : 'POST';
    pool.dispatch({ method, path: target, headers: { accept: 'application/json', ...headers }, body }, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It waited for a connection until nobody wanted to know any more.
    if (this.#endedBy !== undefined) controller.abort(this.#endedBy);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    const text = UTF8.decode(body);
    const error = responseError(this.#status, this.#headers, text);
    this.#settle(error === null ? { kind: 'body', text, headers: this.#headers } : { kind: 'failure', error });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle({ kind: 'failure', error: describeRequestFailure(error) });
  }

  readonly #onOverdue = (): void => {
    this.#end(`no answer within ${Math.round(this.#request.deadlineMs)} ms`);
  };

  readonly #onAborted = (): void => {
    this.#end('called off');
  };

  #end(why: string): void {
    this.#endedBy = new Error(why);
    this.#controller?.abort(this.#endedBy);
    this.#settle({ kind: 'failure', error: why });
  }

  #settle(result: GetResult): void {
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#onAborted);
    this.#resolve(result);
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

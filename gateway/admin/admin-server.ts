// The admin address: pools, metrics, health and the restart of a worker, for operators and their tools only.
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isLoopback } from '../core/address.ts';

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** '' lets everybody in who reaches the address. */
  readonly token: string;
  readonly upstreams: () => object;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Why the gateway is not ready; null when it is. */
  readonly notReady: () => string | null;
  /** False when there is no such worker to restart. */
  readonly restartWorker: (id: number, isAbrupt: boolean) => boolean;
}

interface AdminRoute {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  /** Whether a health checker without a token may ask. */
  readonly isOpen: boolean;
  answer(request: AdminRequest): Promise<AdminAnswer> | AdminAnswer;
}

interface AdminRequest {
  readonly url: URL;
  readonly parts: readonly string[];
}

interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export class AdminServer {
  readonly #options: AdminOptions;
  readonly #server: Server;
  readonly #routes: readonly AdminRoute[];

  constructor(options: AdminOptions) {
    this.#options = options;
    this.#routes = routesOf(options);
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  /** Resolves when the address answers; rejects when it cannot be had. */
  listen(): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => resolve());
    });
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: AdminAnswer;
    try {
      answer = await this.#answer(request, response);
    } catch (error) {
      answer = problem(500, error instanceof Error ? error.message : String(error));
    }
    const { status, type, text } = answer;
    response.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<AdminAnswer> {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const url = URL.parse(request.url ?? '', 'http://admin');
    if (url === null) return problem(400, 'the target is malformed');
    const known = this.#routes.filter(({ path }) => path.test(url.pathname));
    const route = known.find((candidate) => candidate.method === method);
    // Without a token the loopback is the only guard, and a page may have its name point there.
    if (this.#options.token === '' && !isForLoopback(request))
      return problem(403, 'ask for this by a loopback address');
    if (route?.isOpen !== true && !this.#isAuthorised(request)) {
      response.setHeader('WWW-Authenticate', 'Bearer');
      return problem(401, 'this needs the token of the admin address');
    }
    if (known.length === 0) return problem(404, 'there is no such page');
    if (route === undefined) {
      response.setHeader('Allow', known.map((candidate) => candidate.method).join(', '));
      return problem(405, 'this page has another method');
    }
    if (method === 'POST' && isFromAnotherSite(request)) return problem(403, 'a page of another site may not do this');
    return route.answer({ url, parts: route.path.exec(url.pathname)?.slice(1) ?? [] });
  }

  #isAuthorised(request: IncomingMessage): boolean {
    const { token } = this.#options;
    if (token === '') return true;
    const given = Buffer.from(request.headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${token}`);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

function routesOf(options: AdminOptions): readonly AdminRoute[] {
  return [
    { method: 'GET', path: /^\/healthz$/, isOpen: true, answer: () => plain(200, 'ok\n') },
    {
      method: 'GET',
      path: /^\/readyz$/,
      isOpen: true,
      answer: () => {
        const why = options.notReady();
        return why === null ? plain(200, 'ready\n') : plain(503, `not ready: ${why}\n`);
      },
    },
    { method: 'GET', path: /^\/debug\/upstreams$/, isOpen: false, answer: () => json(200, options.upstreams()) },
    {
      method: 'GET',
      path: /^\/metrics$/,
      isOpen: false,
      answer: async () => {
        const { contentType, text } = await options.metrics();
        return { status: 200, type: contentType, text };
      },
    },
    {
      method: 'POST',
      path: /^\/debug\/workers\/(\d+)\/restart$/,
      isOpen: false,
      answer: ({ url, parts }) => {
        const isAbrupt = url.searchParams.has('abrupt');
        if (options.restartWorker(Number(parts[0]), isAbrupt)) return json(202, { restarting: Number(parts[0]) });
        return problem(404, 'there is no such worker, or it is being replaced already');
      },
    },
  ];
}

/** Whether the request was addressed to a loopback address, not to a name that leads there. */
function isForLoopback(request: IncomingMessage): boolean {
  const host = URL.parse(`http://${request.headers.host ?? ''}`)?.hostname ?? '';
  return isLoopback(host.replace(/^\[(.*)\]$/, '$1'));
}

/** Browsers say where a request comes from; tools send neither field. */
function isFromAnotherSite(request: IncomingMessage): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin, host } = request.headers;
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

function plain(status: number, text: string): AdminAnswer {
  return { status, type: 'text/plain; charset=utf-8', text };
}

function json(status: number, value: object): AdminAnswer {
  return { status, type: 'application/json', text: `${JSON.stringify(value, null, 2)}\n` };
}

function problem(status: number, detail: string): AdminAnswer {
  return { ...json(status, { type: 'about:blank', status, detail }), type: 'application/problem+json' };
}

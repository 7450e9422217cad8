// The admin address as a server: who may ask, what is asked, and how it is answered.
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isLoopback } from '../core/address.ts';
import { type AdminAnswer, problem } from './admin-answer.ts';
import { type AdminDuties, type AdminRoute, adminRoutes } from './admin-routes.ts';
import { LIVE_PAGE, LIVE_PAGE_ASSETS } from './live-page.ts';

export interface AdminOptions extends AdminDuties {
  readonly host: string;
  readonly port: number;
  /** '' lets everybody in who reaches the address. */
  readonly token: string;
}

/** Largest body of a POST, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;

export class AdminServer {
  readonly #options: AdminOptions;
  readonly #server: Server;
  readonly #routes: readonly AdminRoute[];

  constructor(options: AdminOptions) {
    this.#options = options;
    this.#routes = adminRoutes(options);
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
    const { status, type, text, headers } = answer;
    response.writeHead(status, {
      ...headers,
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
    const file = method === 'GET' ? pageFile(url.pathname, request.headers.accept ?? '') : undefined;
    if (file !== undefined) return file;
    if (route?.isOpen !== true && !this.#isAuthorised(request)) {
      response.setHeader('WWW-Authenticate', 'Bearer');
      return problem(401, 'this needs the token of the admin address');
    }
    if (known.length === 0) return problem(404, 'there is no such page');
    if (route === undefined) {
      response.setHeader('Allow', known.map((candidate) => candidate.method).join(', '));
      return problem(405, 'this page has another method');
    }
    const body = method === 'POST' ? await readPost(request) : '';
    if (typeof body !== 'string') return body;
    const parts = (route.path.exec(url.pathname)?.slice(1) ?? []).map(decodeSegment);
    if (parts.includes(undefined)) return problem(400, 'the path is malformed');
    return route.answer({ url, parts: parts.map((part) => part ?? ''), body, accept: request.headers.accept ?? '' });
  }

  #isAuthorised(request: IncomingMessage): boolean {
    const { token } = this.#options;
    if (token === '') return true;
    const given = Buffer.from(request.headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${token}`);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

/** The live page or a file of it; it holds nothing that a token guards. */
function pageFile(path: string, accept: string): AdminAnswer | undefined {
  const asset = LIVE_PAGE_ASSETS.find((each) => each.path === path);
  if (asset !== undefined) return { status: 200, type: asset.type, text: asset.text };
  if (path !== '/debug/upstreams' || !accept.includes('text/html')) return undefined;
  const headers = { ...LIVE_PAGE.headers, Vary: 'Accept' };
  return { status: 200, type: 'text/html; charset=utf-8', text: LIVE_PAGE.text, headers };
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

/** The body of a POST, or why it is refused. */
async function readPost(request: IncomingMessage): Promise<string | AdminAnswer> {
  if (isFromAnotherSite(request)) return problem(403, 'a page of another site may not do this');
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > MAX_BODY_BYTES) return problem(413, `the body has more than ${MAX_BODY_BYTES} characters`);
  }
  // A form of another site can send text, but not JSON, without being asked for leave first.
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '');
  return text === '' || isJson ? text : problem(415, 'the body must be application/json');
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

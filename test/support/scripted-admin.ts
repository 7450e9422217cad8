// An admin address for tests of the live page: it serves the page, and says of the gateway what the test wants.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIVE_PAGE, LIVE_PAGE_ASSETS } from '../../gateway/admin/live-page.ts';
import type { UpstreamsDocument } from '../../gateway/admin/page/document.ts';
import { type LocalServer, startHttpServer } from './local-server.ts';

export interface Order {
  readonly path: string;
  readonly body: string;
  readonly contentType: string | undefined;
  readonly site: string | undefined;
  readonly authorization: string | undefined;
}

export interface ScriptedAdmin {
  /** Of the live page. */
  readonly url: string;
  /** The POSTs so far. */
  readonly orders: readonly Order[];
  /** How often the document was asked for. */
  readonly looks: number;
  /** How often it wanted the token. */
  readonly refusals: number;
  /** What it shows from now on. */
  show(document: UpstreamsDocument): void;
  /** Refuses orders for this reason; null carries them out. */
  refuse(detail: string | null): void;
  /** Wants this token for everything but the page; '' wants none. */
  lock(token: string): void;
  /** Cuts every connection without an answer, until told otherwise. */
  setGone(isGone: boolean): void;
  stop(): Promise<void>;
}

export async function startScriptedAdmin(document: UpstreamsDocument): Promise<ScriptedAdmin> {
  const admin = new Scripted(document);
  const server = await startHttpServer((request, response) => void admin.handle(request, response));
  admin.server = server;
  return admin;
}

class Scripted implements ScriptedAdmin {
  readonly orders: Order[] = [];
  looks = 0;
  refusals = 0;
  server: LocalServer | undefined;
  #document: UpstreamsDocument;
  #refusal: string | null = null;
  #token = '';
  #isGone = false;

  constructor(document: UpstreamsDocument) {
    this.#document = document;
  }

  get url(): string {
    return `http://127.0.0.1:${this.server?.port}/debug/upstreams`;
  }

  show(document: UpstreamsDocument): void {
    this.#document = document;
  }

  refuse(detail: string | null): void {
    this.#refusal = detail;
  }

  lock(token: string): void {
    this.#token = token;
  }

  setGone(isGone: boolean): void {
    this.#isGone = isGone;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    const asset = LIVE_PAGE_ASSETS.find(({ path }) => path === url);
    if (this.#isGone) return void request.socket.destroy();
    if (asset !== undefined) return answer(response, 200, asset.text, { 'Content-Type': asset.type });
    const wantsPage = method === 'GET' && request.headers.accept?.includes('text/html') === true;
    if (wantsPage) return answer(response, 200, LIVE_PAGE.text, LIVE_PAGE.headers);
    if (this.#token !== '' && request.headers.authorization !== `Bearer ${this.#token}`) {
      this.refusals++;
      return problem(response, 401, 'this needs the token of the admin address');
    }
    if (method === 'GET') {
      this.looks++;
      return answer(response, 200, JSON.stringify(this.#document), { 'Content-Type': 'application/json' });
    }
    this.orders.push(await orderOf(request));
    if (this.#refusal !== null) return problem(response, 409, this.#refusal);
    answer(response, 200, '{}', { 'Content-Type': 'application/json' });
  }
}

async function orderOf(request: IncomingMessage): Promise<Order> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  const { headers, url = '' } = request;
  const site = headers['sec-fetch-site'];
  return {
    path: url,
    body,
    contentType: headers['content-type'],
    site: typeof site === 'string' ? site : undefined,
    authorization: headers.authorization,
  };
}

function problem(response: ServerResponse, status: number, detail: string): void {
  answer(response, status, JSON.stringify({ status, detail }), { 'Content-Type': 'application/problem+json' });
}

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, { ...headers, 'Cache-Control': 'no-store' }).end(text);
}

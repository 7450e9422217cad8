// One HTTP request and its whole answer, on a connection of its own unless an agent keeps it.
import { type Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
  /** Milliseconds without a sign of life after which the request fails. */
  readonly limitMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const LIMIT_MS = 20_000;

/** Rejects when the connection cannot be made, breaks, or is silent for too long; an answer of any status resolves. */
export function send(url: string, options: SendOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, agent, limitMs = LIMIT_MS } = options;
  return new Promise((resolve, reject) => {
    // Node announces no length for a DELETE by itself.
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const call = request(url, { method, headers: { ...length, ...headers }, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0 } = response;
        resolve({ status: statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() });
      });
    });
    call.setTimeout(limitMs, () => call.destroy(new Error(`no answer from ${url} in ${limitMs} ms`)));
    call.on('error', reject);
    call.end(body);
  });
}

// One HTTP request and its answer, bounded in time and size, on a connection of its own.
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly content?: unknown;
  readonly limitMs: number;
  /** Ends the exchange early. */
  readonly signal: AbortSignal;
}

export interface ExchangeAnswer {
  readonly status: number;
  /** The body, cut after 64 KiB. */
  readonly text: string;
}

const MAX_TEXT_BYTES = 64 * 1024;

/**
 * Sends the request and reads the answer, whatever its status; redirects are not followed, for a token would go along.
 * Rejects with a sentence when there is no answer within `limitMs`. (`fetch` refuses to speak to some ports.)
 */
export async function exchange(options: Exchange): Promise<ExchangeAnswer> {
  const limit = AbortSignal.timeout(options.limitMs);
  try {
    return await attempt(options, AbortSignal.any([limit, options.signal]));
  } catch (error) {
    throw new Error(limit.aborted ? `no answer within ${options.limitMs} ms` : reasonOf(error));
  }
}

/** What went wrong in words; a connection that failed at several addresses has words for each, but none of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

function attempt({ method, url, headers, content }: Exchange, signal: AbortSignal): Promise<ExchangeAnswer> {
  const body = content === undefined ? '' : JSON.stringify(content);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      agent: false,
      signal,
      headers: { ...headers, ...contentFields(method, body) },
    });
    request.once('error', reject);
    request.once('response', (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    request.end(body);
  });
}

function contentFields(method: Exchange['method'], body: string): Readonly<Record<string, string>> {
  if (method === 'GET') return {};
  return {
    'content-length': String(Buffer.byteLength(body)),
    ...(body !== '' && { 'content-type': 'application/json' }),
  };
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_TEXT_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_TEXT_BYTES).toString();
}

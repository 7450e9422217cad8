// Fetches one document over HTTP, bounded in time and size.

import { Agent, type Dispatcher } from 'undici';
import { describeFailure } from '../core/describe-failure.ts';

export type Fetched = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };

/** Fetches what `url` names; redirects are not followed. Does not reject. */
export type FetchText = (url: string) => Promise<Fetched>;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

export interface TextFetcher {
  readonly fetch: FetchText;
  /** Cuts what is under way. */
  stop(): Promise<void>;
}

/** One fetcher serves all key sets of a worker. */
export function createTextFetcher(timeoutMs = TIMEOUT_MS): TextFetcher {
  const agent = new Agent({
    connections: 1,
    allowH2: false,
    maxResponseSize: MAX_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: timeoutMs },
  });
  return {
    fetch: (url) => fetchText(agent, url, timeoutMs),
    stop: () => agent.destroy(),
  };
}

async function fetchText(agent: Dispatcher, url: string, timeoutMs: number): Promise<Fetched> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await agent.request({
      origin,
      path: pathname + search,
      method: 'GET',
      headers: { accept: 'application/jwk-set+json, application/json' },
      signal: deadline.signal,
    });
    const text = await response.body.text();
    return response.statusCode === 200 ? { ok: true, text } : { ok: false, error: `status ${response.statusCode}` };
  } catch (error) {
    return { ok: false, error: deadline.signal.aborted ? `no answer within ${timeoutMs} ms` : describeFailure(error) };
  } finally {
    clearTimeout(timer);
  }
}

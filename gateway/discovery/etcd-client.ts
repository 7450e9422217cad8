// The way to the members of one etcd cluster: a range, and a watch as a stream of messages (API v3 over HTTP).
import type { Clock } from '../core/clock.ts';
import { quote } from '../core/quote.ts';
import { decodeMessage, decodeRange, type EtcdMessage, type EtcdRange } from './etcd-decode.ts';
import { type EtcdCredentials, EtcdLogin } from './etcd-login.ts';
import { createGetPool, describeRequestFailure, getJson, responseError } from './http-get.ts';
import type { QueryMeter } from './source.ts';
import type { TlsFiles } from './tls-connector.ts';

export interface EtcdQuestion {
  /** What the keys begin with; not empty. */
  readonly prefix: string;
  /** Number of the endpoint in the list, counted on without end. */
  readonly endpoint: number;
}

export interface EtcdClient {
  /** All keys with the prefix, in a linearizable read: a member that has lost its leader does not answer it. */
  range(question: EtcdQuestion, signal: AbortSignal): Promise<EtcdRange | { readonly error: string }>;
  /**
   * What happens to keys with the prefix after `revision`, until `signal` is aborted, which ends it without a word;
   * otherwise the last message is `canceled` or `broken`.
   */
  watch(question: EtcdQuestion & { readonly revision: string }, signal: AbortSignal): AsyncGenerator<EtcdMessage>;
  /** Closes every connection. */
  stop(): Promise<void>;
}

/** Most connections to one member. */
export const MAX_CONNECTIONS = 128;

const RANGE_DEADLINE_MS = 5000;

export interface EtcdClientOptions extends EtcdCredentials {
  /** URLs of members of one cluster. */
  readonly endpoints: readonly string[];
  /** Of `https` endpoints: files in PEM; '' for none. */
  readonly tls: TlsFiles;
  readonly clock: Clock;
  readonly meter?: QueryMeter | undefined;
}

/** Throws when `endpoints` is empty or has something that is no URL. */
export function createEtcdClient({ endpoints, clock, tls, meter, ...credentials }: EtcdClientOptions): EtcdClient {
  if (endpoints.length === 0) throw new Error('etcd needs the URL of at least one endpoint');
  const ways = endpoints.map((endpoint) => {
    const url = new URL(endpoint);
    return { origin: url.origin, pool: createGetPool(url, { connections: MAX_CONNECTIONS, tls }) };
  });
  const login = new EtcdLogin(credentials, clock);
  function wayTo({ endpoint }: EtcdQuestion) {
    const way = ways[endpoint % ways.length];
    if (way === undefined) throw new Error(`no endpoint ${endpoint}`);
    return way;
  }
  const sentence = (origin: string, { prefix }: EtcdQuestion, error: string) =>
    `etcd at ${origin} on ${quote(prefix)}: ${error}`;

  return {
    async range(question, signal) {
      const { origin, pool } = wayTo(question);
      const access = await login.token(pool);
      if ('error' in access) return { error: sentence(origin, question, access.error) };
      const result = await getJson(pool, {
        target: '/v3/kv/range',
        headers: { ...JSON_BODY, ...access.headers },
        body: JSON.stringify(keysWith(question.prefix)),
        deadlineMs: RANGE_DEADLINE_MS,
        signal,
        meter,
      });
      if (result.kind === 'failure') {
        login.forget();
        return { error: sentence(origin, question, result.error) };
      }
      const decoded = decodeRange(result.text);
      return decoded.kind === 'range' ? decoded : { error: sentence(origin, question, decoded.error) };
    },
    async *watch(question, signal) {
      const { origin, pool } = wayTo(question);
      const start_revision = String(BigInt(question.revision) + 1n);
      const body = JSON.stringify({ create_request: { ...keysWith(question.prefix), start_revision } });
      const broken = (error: string): EtcdMessage => ({ kind: 'broken', error: sentence(origin, question, error) });
      const access = await login.token(pool);
      if ('error' in access) {
        yield broken(access.error);
        return;
      }
      try {
        const headers = { ...JSON_BODY, ...access.headers };
        const response = await pool.request({ method: 'POST', path: '/v3/watch', headers, body, signal });
        if (response.statusCode !== 200) {
          const text = await response.body.text();
          yield broken(responseError(response.statusCode, response.headers, text) ?? 'no watch');
          return;
        }
        for await (const line of linesOf(response.body)) {
          const message = decodeMessage(line);
          yield message.kind === 'broken' ? broken(message.error) : message;
          if (message.kind === 'broken' || message.kind === 'canceled') return;
        }
        yield broken('the watch ended');
      } catch (error) {
        if (!signal.aborted) yield broken(describeRequestFailure(error));
      }
    },
    async stop() {
      await Promise.all(ways.map(({ pool }) => pool.destroy()));
    },
  };
}

const JSON_BODY = { 'content-type': 'application/json' } as const;

/** The range of all keys that begin with `prefix`: up to the prefix with its last byte counted up. */
function keysWith(prefix: string): { readonly key: string; readonly range_end: string } {
  const key = Buffer.from(prefix);
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return { key: key.toString('base64'), range_end: end.toString('base64') };
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield line;
  }
}

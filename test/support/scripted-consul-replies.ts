// What a scripted Consul sends: the state of a service as Consul words it, or a raw reply.
import type { ServerResponse } from 'node:http';

/** A reply sent as it is, whatever was asked; `hang` accepts the query and never answers, `reset` breaks off. */
export type RawReply =
  | 'hang'
  | 'reset'
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string | Buffer }
  | { readonly cutAfter: string };

export interface ServiceState {
  readonly entries: readonly unknown[];
  /** The X-Consul-Index to answer with; one more than the last when absent, no such field when null. */
  readonly index?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** false: queries that wait are not told; they find the new state when their wait is over. */
  readonly wake?: boolean;
}

/** The state with the index it is answered with. */
export interface CurrentState extends ServiceState {
  readonly index: string | null;
}

/** Whether Consul would hold a query with the index `asked` while its own is `current`. */
export function mustWait(asked: string | null, current: string | null): boolean {
  return asked !== null && current !== null && BigInt(current) <= BigInt(asked);
}

/** Answers with the state of a service, or with any other content and its index. */
export function sendState(
  response: ServerResponse,
  { entries, index, headers }: Pick<CurrentState, 'index' | 'headers'> & { readonly entries: unknown },
): void {
  const indexHeader: Record<string, string> = index === null ? {} : { 'X-Consul-Index': index };
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'X-Consul-KnownLeader': 'true',
    'X-Consul-LastContact': '0',
    ...indexHeader,
    ...headers,
  });
  response.end(JSON.stringify(entries));
}

/** Answers with a raw reply. */
export function sendRaw(response: ServerResponse, reply: RawReply): void {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.destroy();
    return;
  }
  if ('cutAfter' in reply) {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100000' });
    response.write(reply.cutAfter, () => response.destroy());
    return;
  }
  response.writeHead(reply.status ?? 200, reply.headers);
  response.end(reply.body);
}

/** The part of Go's durations that a client needs: `60s`, `1500ms`, `10m`; undefined for what Consul refuses. */
export function goDurationMs(text: string): number | undefined {
  const [, digits, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  return Number(digits) * (unit === 'ms' ? 1 : unit === 's' ? 1000 : 60_000);
}

// A Consul that says what the test wants: the health of services and the lists, with blocking queries, and any wrong answer.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { createScriptedLists } from './scripted-consul-lists.ts';
import {
  type CurrentState,
  goDurationMs,
  mustWait,
  type RawReply,
  type ServiceState,
  sendRaw,
  sendState,
} from './scripted-consul-replies.ts';

export interface RecordedQuery {
  /** '' for a query of a list. */
  readonly service: string;
  /** The query string without `?`. */
  readonly query: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly atMs: number;
}

export interface ScriptedConsul {
  readonly url: string;
  readonly port: number;
  readonly queries: readonly RecordedQuery[];
  /** Queries that are held at present. */
  readonly waiting: number;
  readonly openConnections: number;
  readonly mostConnections: number;
  set(service: string, state: ServiceState): void;
  /** Answers every query of every service with `reply`, also those that wait; undefined ends it. */
  always(reply: RawReply | undefined): void;
  /** Answers every query of a list with `reply`, also those that wait; undefined ends it. */
  alwaysLists(reply: RawReply | undefined): void;
  stop(): Promise<void>;
}

interface Held {
  /** The service or the path of the list. */
  readonly subject: string;
  readonly answer: () => void;
}

const HEALTH = '/v1/health/service/';

/** Starts one, over TLS if there are options for it; a service that was not set has no instances. */
export async function startScriptedConsul(tls?: TlsOptions): Promise<ScriptedConsul> {
  const states = new Map<string, CurrentState>();
  const queries: RecordedQuery[] = [];
  const lists = createScriptedLists();
  const held = new Set<Held>();
  const sockets = new Set<Socket>();
  let lastIndex = 100n;
  let mostConnections = 0;
  let override: RawReply | undefined;
  let listOverride: RawReply | undefined;

  const stateOf = (service: string): CurrentState => states.get(service) ?? { entries: [], index: '100' };
  const release = (subjects?: readonly string[]) => {
    for (const one of [...held]) if (subjects?.includes(one.subject) !== false) one.answer();
  };

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://consul');
    const isHealth = url.pathname.startsWith(HEALTH);
    const service = isHealth ? decodeURIComponent(url.pathname.slice(HEALTH.length)) : '';
    const list = isHealth ? '' : url.pathname.slice('/v1/'.length);
    const query = url.search.slice(1);
    queries.push({ service, query, url: request.url ?? '', headers: request.headers, atMs: performance.now() });
    const current = () => {
      if (!isHealth) return { entries: lists.body(list), index: lists.index(list) };
      const state = stateOf(service);
      // The one tag that is asked for is no instance's.
      return url.searchParams.has('tag') ? { ...state, entries: [] } : state;
    };
    const overridden = () => override ?? (isHealth ? undefined : listOverride);
    const answer = () => {
      const reply = overridden();
      return reply === undefined ? sendState(response, current()) : sendRaw(response, reply);
    };
    const waitMs = goDurationMs(url.searchParams.get('wait') ?? '300s');
    if (overridden() === undefined && waitMs === undefined) {
      sendRaw(response, { status: 400, body: 'Invalid wait time' });
    } else if (overridden() === undefined && mustWait(url.searchParams.get('index'), current().index)) {
      hold(response, { subject: isHealth ? service : list, waitMs: waitMs ?? 0, answer });
    } else {
      answer();
    }
  }

  function hold(response: ServerResponse, query: { subject: string; waitMs: number; answer: () => void }): void {
    const finish = () => {
      clearTimeout(timer);
      held.delete(entry);
    };
    const entry: Held = {
      subject: query.subject,
      answer: () => {
        finish();
        query.answer();
      },
    };
    const timer = setTimeout(entry.answer, query.waitMs);
    held.add(entry);
    response.on('close', finish);
  }

  const options = { keepAliveTimeout: 60_000 };
  const server =
    tls === undefined ? createServer(options, onRequest) : createTlsServer({ ...options, ...tls }, onRequest);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    mostConnections = Math.max(mostConnections, sockets.size);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${address.port}`,
    port: address.port,
    queries,
    get waiting() {
      return held.size;
    },
    get openConnections() {
      return sockets.size;
    },
    get mostConnections() {
      return mostConnections;
    },
    set(service, state) {
      if (state.index === undefined) lastIndex += 1n;
      const index = state.index === undefined ? String(lastIndex) : state.index;
      states.set(service, { ...state, index });
      const moved = lists.set(service, state);
      if (state.wake !== false) release([service, ...moved]);
    },
    always(reply) {
      override = reply;
      if (reply !== undefined && reply !== 'hang') release();
    },
    alwaysLists(reply) {
      listOverride = reply;
      if (reply !== undefined && reply !== 'hang') release();
    },
    async stop() {
      release();
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

// A Consul that says what the test wants: `/v1/health/service/<name>` with blocking queries, and any wrong answer.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  type CurrentState,
  goDurationMs,
  mustWait,
  type RawReply,
  type ServiceState,
  sendRaw,
  sendState,
} from './scripted-consul-replies.ts';

interface RecordedQuery {
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
  stop(): Promise<void>;
}

interface Held {
  readonly service: string;
  readonly answer: () => void;
}

/** Starts one; a service that was not set has no instances. */
export async function startScriptedConsul(): Promise<ScriptedConsul> {
  const states = new Map<string, CurrentState>();
  const queries: RecordedQuery[] = [];
  const held = new Set<Held>();
  const sockets = new Set<Socket>();
  let lastIndex = 100n;
  let mostConnections = 0;
  let override: RawReply | undefined;

  const stateOf = (service: string): CurrentState => states.get(service) ?? { entries: [], index: '100' };
  const release = (service?: string) => {
    for (const one of [...held]) if (service === undefined || one.service === service) one.answer();
  };

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://consul');
    const service = decodeURIComponent(url.pathname.split('/')[4] ?? '');
    const query = url.search.slice(1);
    queries.push({ service, query, url: request.url ?? '', headers: request.headers, atMs: performance.now() });
    const answer = () => (override === undefined ? sendState(response, stateOf(service)) : sendRaw(response, override));
    const waitMs = goDurationMs(url.searchParams.get('wait') ?? '300s');
    if (override === undefined && waitMs === undefined) {
      sendRaw(response, { status: 400, body: 'Invalid wait time' });
    } else if (override === undefined && mustWait(url.searchParams.get('index'), stateOf(service).index)) {
      hold(response, { service, waitMs: waitMs ?? 0, answer });
    } else {
      answer();
    }
  }

  function hold(response: ServerResponse, query: { service: string; waitMs: number; answer: () => void }): void {
    const finish = () => {
      clearTimeout(timer);
      held.delete(entry);
    };
    const entry: Held = {
      service: query.service,
      answer: () => {
        finish();
        query.answer();
      },
    };
    const timer = setTimeout(entry.answer, query.waitMs);
    held.add(entry);
    response.on('close', finish);
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, onRequest);
  server.on('connection', (socket) => {
    sockets.add(socket);
    mostConnections = Math.max(mostConnections, sockets.size);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
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
      if (state.wake !== false) release(service);
    },
    always(reply) {
      override = reply;
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

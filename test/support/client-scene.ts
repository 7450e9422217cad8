// What the tests of `weir/client` share: dispatchers and services that end with the test, and a check that nothing is left.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { afterEach, expect } from 'vitest';
import type { FetchDispatcher } from '../../gateway/client/discovery-dispatcher.ts';
import type { DiscoveryDispatcherOptions, ServiceOptions } from '../../gateway/client/options.ts';
import { createDiscoveryDispatcher, type DiscoveryDispatcher } from '../../gateway/client.ts';
import { startHttpServer } from './local-server.ts';
import { waitFor } from './wait-for.ts';

type ClientDispatcher = DiscoveryDispatcher & FetchDispatcher;

const dispatchers: ClientDispatcher[] = [];
const running: { stop(): Promise<void> }[] = [];

/** Call once in a test file: ends everything after each test, and checks that no attempt was left under way. */
export function endClientsAfterEach(): void {
  const unhandled: unknown[] = [];
  process.on('unhandledRejection', (reason) => unhandled.push(reason));
  afterEach(async () => {
    const open = dispatchers.splice(0);
    for (const dispatcher of open) await dispatcher.destroy();
    for (const dispatcher of open) {
      const inFlight = () => dispatcher.upstreams().flatMap(({ endpoints }) => endpoints.map((each) => each.inFlight));
      await waitFor(() => inFlight().every((count) => count === 0), { limitMs: 3000, what: 'no request in flight' });
    }
    for (const each of running.splice(0).reverse()) await each.stop();
    expect(unhandled).toEqual([]);
  });
}

/** Ends with the test. */
export function ending<Each extends { stop(): Promise<void> }>(each: Each): Each {
  running.push(each);
  return each;
}

export function dispatcherFor(options: DiscoveryDispatcherOptions): ClientDispatcher {
  const dispatcher = createDiscoveryDispatcher(options);
  dispatchers.push(dispatcher);
  return dispatcher;
}

/** A dispatcher for the service `s` at these ports. */
export function dispatcherTo(ports: readonly number[], options: ServiceOptions = {}): ClientDispatcher {
  const endpoints = ports.map((port) => `127.0.0.1:${port}`);
  return dispatcherFor({ services: { s: { endpoints, ...options } } });
}

export interface NamedService {
  readonly name: string;
  readonly port: number;
  /** `METHOD path content` of every request: noted when it arrives, or at the end of its content if it has any. */
  readonly requests: string[];
  /** Connections that are open. */
  open(): number;
}

/** A service that answers with its name, or as `answer` wants. */
export async function serviceNamed(name: string, answer?: RequestListener): Promise<NamedService> {
  const requests: string[] = [];
  let open = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    let content = '';
    const note = () => requests.push([request.method, request.url, content].join(' ').trim());
    request.on('data', (piece: Buffer) => {
      content += piece.toString('latin1');
    });
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (length === '0' && coding === undefined) note();
    else request.on('end', note);
    if (answer === undefined) response.end(name);
    else answer(request, response);
  };
  const server = await startHttpServer(listener, (each) => {
    each.on('connection', (socket) => {
      open++;
      socket.once('close', () => open--);
    });
  });
  ending(server);
  return { name, port: server.port, requests, open: () => open };
}

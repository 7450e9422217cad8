// The parts of `weir register` on real sockets: what registries are sent, what their answers do, and probes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../gateway/core/clock.ts';
import { createConsulRegistrar } from '../../gateway/registration/consul-registrar.ts';
import { detectAddress } from '../../gateway/registration/register-identity.ts';
import type { HealthCheck } from '../../gateway/registration/register-options.ts';
import { probePath, probePort } from '../../gateway/registration/register-probe.ts';
import { Upkeep } from '../../gateway/registration/register-upkeep.ts';
import { createRegistryRegistrar } from '../../gateway/registration/registry-registrar.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { startHttpServer } from '../support/local-server.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 5000;
const instance = { service: 'web', instance: 'web 1', address: '127.0.0.1', port: 8080, weight: 2, tags: [], meta: {} };
const ttl = { kind: 'heartbeat', intervalMs: 1000, ttlMs: 3000 } as const;

interface Received {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let owned: AsyncDisposableStack;
let received: Received[];
/** What the server does with each request; by default it answers 200. */
let reply: (response: ServerResponse, line: string) => void;
let url: URL;
const never = new AbortController().signal;

beforeEach(async () => {
  owned = new AsyncDisposableStack();
  received = [];
  reply = (response) => response.end('{}');
  const server = await startHttpServer(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    received.push({ line, headers: request.headers, body: await text(request) });
    reply(response, line);
  });
  owned.defer(() => server.stop());
  url = new URL(`http://127.0.0.1:${server.port}`);
});
afterEach(() => owned.disposeAsync());

const lines = () => received.map(({ line }) => line);
const answering = (status: number, body: string) => (response: ServerResponse) =>
  void response.writeHead(status).end(body);

describe('the registrar of Consul', () => {
  const create = (check: HealthCheck = ttl, token = 'hush', at = url) =>
    createConsulRegistrar({ url: at, token, instance, check, deregisterAfterMs: 60_000 });

  it('registers, beats and deregisters, with its token in a header only', async () => {
    const consul = create();
    await consul.register(true, never);
    expect(await consul.beat(null, never)).toBe('listed');
    expect(await consul.beat('broken & gone', never)).toBe('listed');
    await consul.deregister(never);
    expect(lines()).toEqual([
      'PUT /v1/agent/service/register',
      'PUT /v1/agent/check/pass/service:web%201?note=the%20port%20answers',
      'PUT /v1/agent/check/fail/service:web%201?note=broken%20%26%20gone',
      'PUT /v1/agent/service/deregister/web%201',
    ]);
    expect(received.map(({ headers }) => headers['x-consul-token'])).toEqual(Array(4).fill('hush'));
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ ID: 'web 1', Check: { Status: 'passing' } });
    expect(JSON.stringify(received.map(({ line, body }) => [line, body]))).not.toContain('hush');
  });

  it('only looks whether it is there when the agent asks the instance itself', async () => {
    const consul = create({ kind: 'http', path: '/health', intervalMs: 1000 });
    expect(await consul.beat(null, never)).toBe('listed');
    expect(lines()).toEqual(['GET /v1/agent/service/web%201']);
  });

  it('puts the path of its URL first, and sends no token when there is none', async () => {
    await create(ttl, '', new URL('agent/', url)).deregister(never);
    expect(lines()).toEqual(['PUT /agent/v1/agent/service/deregister/web%201']);
    expect(received[0]?.headers).not.toHaveProperty('x-consul-token');
  });

  it.each([
    [404, 'Unknown check ID "service:web 1"'],
    [500, 'CheckID "service:web 1" does not have associated TTL'],
  ])('takes %d %s for an agent that has forgotten', async (status, body) => {
    reply = answering(status, body);
    expect(await create().beat(null, never)).toBe('absent');
    if (status === 404) await create().deregister(never);
  });

  it.each([
    [403, 'Permission denied', 'status 403: "Permission denied"'],
    [500, 'No cluster leader', 'status 500: "No cluster leader"'],
    [429, '', 'status 429'],
  ])('tells %d %s as a failure', async (status, body, message) => {
    reply = answering(status, body);
    await expect(create().register(true, never)).rejects.toThrow(message);
    await expect(create().beat(null, never)).rejects.toThrow(message);
    await expect(create().deregister(never)).rejects.toThrow(message);
  });

  it('does not follow a redirect, which would be told the token', async () => {
    reply = (response) => void response.writeHead(307, { location: '/elsewhere' }).end();
    await expect(create().register(true, never)).rejects.toThrow('status 307');
    expect(lines()).toEqual(['PUT /v1/agent/service/register']);
  });
});

describe('the registrar of the table registry', () => {
  const create = (secret = '') => createRegistryRegistrar({ url, secret, instance, intervalMs: 10_000 });

  it('registers, beats and deregisters with JSON and its secret', async () => {
    const table = create('hush');
    await table.register(true, never);
    expect(await table.beat(null, never)).toBe('listed');
    await table.deregister(never);
    expect(lines()).toEqual(['POST /register', 'POST /register', 'DELETE /register']);
    expect(received[1]?.body).toBe(received[0]?.body);
    expect(JSON.parse(received[2]?.body ?? '')).toEqual({ service: 'web', instance: 'web 1' });
    for (const { headers } of received) {
      expect(headers).toMatchObject({ authorization: 'Bearer hush', 'content-type': 'application/json' });
    }
  });

  it('beats more often where instances expire sooner', async () => {
    const table = create();
    await table.register(true, never);
    expect(table.beatMs).toBe(10_000);
    reply = answering(200, '{"expiresInSeconds":6}');
    await table.beat(null, never);
    expect(table.beatMs).toBe(2000);
  });

  it('tells why it was refused', async () => {
    reply = answering(400, '{"error":"port must be an integer"}');
    await expect(create().register(true, never)).rejects.toThrow('status 400: "port must be an integer"');
    reply = answering(502, '<html>');
    await expect(create().deregister(never)).rejects.toThrow('status 502: "<html>"');
  });
});

describe('leaving', () => {
  function keep() {
    const told: string[] = [];
    const upkeep = new Upkeep({
      registrar: createRegistryRegistrar({ url, secret: '', instance, intervalMs: 50 }),
      registry: 'the registry',
      instance: 'web 1',
      probe: async () => null,
      clock: systemClock,
      say: (message) => told.push(message),
    });
    const running = upkeep.run();
    owned.defer(async () => {
      await upkeep.leave();
      await running;
    });
    return { upkeep, told };
  }
  const posted = () => waitFor(() => received.length > 0, { limitMs: LIMIT_MS, what: 'a registration' });

  it('waits for a registration that is under way, for it must not arrive afterwards', async () => {
    let answer = (): void => undefined;
    reply = (response, line) => {
      if (line.startsWith('DELETE')) response.end('{}');
      else answer = () => void response.end('{}');
    };
    const { upkeep } = keep();
    await posted();
    const leaving = upkeep.leave();
    expect(lines()).toEqual(['POST /register']);
    answer();
    expect(await leaving).toBe('gone');
    expect(lines()).toEqual(['POST /register', 'DELETE /register']);
  });

  it('does not wait for ever, and deregisters what may have been registered', async () => {
    reply = (response, line) => void (line.startsWith('DELETE') && response.end('{}'));
    const { upkeep } = keep();
    await posted();
    expect(await upkeep.leave()).toBe('gone');
    expect(lines()).toEqual(['POST /register', 'DELETE /register']);
  });

  it('is bounded where the registry has fallen silent, and may be tried again', async () => {
    const { upkeep, told } = keep();
    await waitFor(() => told.length > 0, { limitMs: LIMIT_MS, what: 'a registration' });
    reply = () => undefined;
    expect(await upkeep.leave()).toBe('failed');
    expect(told.at(-1)).toBe('the registry did not deregister: no answer in time');
    reply = (response) => response.end('{}');
    expect(await upkeep.leave()).toBe('gone');
    expect(await upkeep.leave()).toBe('gone');
    expect(lines().filter((line) => line.startsWith('DELETE'))).toHaveLength(2);
  });

  it('is nothing to do where the registry never had it', async () => {
    reply = answering(503, '');
    const { upkeep } = keep();
    await posted();
    expect(await upkeep.leave()).toBe('never');
  });
});

describe('a probe', () => {
  const options = { limitMs: LIMIT_MS, signal: never };
  const here = () => ({ host: '127.0.0.1', port: Number(url.port) });

  it('finds a port that accepts, and one that does not', async () => {
    expect(await probePort(here(), options)).toBeNull();
    const [port = 0] = await findFreePorts(1);
    expect(await probePort({ host: '127.0.0.1', port }, options)).toContain('ECONNREFUSED');
    expect(await probePort({ host: 'nothing.invalid', port }, options)).toContain('nothing.invalid');
  });

  it('takes a path that answers 2xx for well, and nothing else', async () => {
    expect(await probePath(here(), '/health?a=1', options)).toBeNull();
    expect(lines()).toEqual(['GET /health?a=1']);
    reply = answering(204, '');
    expect(await probePath(here(), '/', options)).toBeNull();
    reply = answering(302, '');
    expect(await probePath(here(), '/', options)).toBe('GET / answered 302');
    reply = (response) => response.destroy();
    expect(await probePath(here(), '/', options)).toContain('socket hang up');
  });

  it('ends when its time is over', async () => {
    reply = () => undefined;
    expect(await probePath(here(), '/', { limitMs: 50, signal: never })).toBe('no answer within 50 ms');
  });
});

describe('the address of an instance', () => {
  const registry = (kind: 'consul' | 'table', href: string) => ({ kind, url: new URL(href) });

  it('is the one on the way to the registry', async () => {
    expect(await detectAddress(registry('table', 'http://127.0.0.1:8510'))).toBe('127.0.0.1');
  });

  it('is one for other machines where the agent of Consul is on this one', async () => {
    const external = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal }) => !internal)
      .map(({ address }) => address);
    const found = await detectAddress(registry('consul', 'http://127.0.0.1:8500'));
    expect(external.length > 0 ? external : ['127.0.0.1']).toContain(found);
  });

  it('is not known while the name of the registry is not', async () => {
    await expect(detectAddress(registry('consul', 'http://nothing.invalid:8500'))).rejects.toThrow('nothing.invalid');
  });
});

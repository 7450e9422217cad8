// `weir/client` with real sources of endpoints: the table registry in this process, and Consul.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../gateway/core/log.ts';
import { type RunningRegistry, startRegistry } from '../../gateway/registration/registry-server.ts';
import { dispatcherFor, endClientsAfterEach, serviceNamed } from '../support/client-scene.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 8000;
const CLIENT_PROCESS = fileURLToPath(new URL('../support/client-process.ts', import.meta.url));

type Dispatcher = ReturnType<typeof dispatcherFor>;

async function namesOf(dispatcher: Dispatcher, count: number, url = 'http://s/'): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  for (let at = 0; at < count; at++) {
    const answer = await fetch(url, { dispatcher });
    const text = await answer.text();
    const name = answer.headers.get('x-instance') ?? text;
    seen[name] = (seen[name] ?? 0) + 1;
  }
  return seen;
}

const endpointsOf = (dispatcher: Dispatcher) => dispatcher.upstreams()[0]?.endpoints.length;

describe('with the table registry', () => {
  let folder: string;
  let registry: RunningRegistry | undefined;

  async function start(port = 0): Promise<RunningRegistry> {
    const store = { kind: 'sqlite', path: join(folder, 'registry.db') } as const;
    registry = await startRegistry({ host: '127.0.0.1', port, store });
    return registry;
  }
  async function tell(method: 'POST' | 'DELETE', port: number, weight = 1): Promise<void> {
    const record = { service: 's', instance: `i-${port}`, addr: '127.0.0.1', port, meta: { weight: String(weight) } };
    const headers = { 'Content-Type': 'application/json' };
    const answer = await request(`${registry?.url}/register`, { method, headers, body: JSON.stringify(record) });
    expect(answer.statusCode).toBeLessThan(300);
    await answer.body.dump();
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-client-'));
  });
  endClientsAfterEach();
  afterEach(async () => {
    await registry?.stop();
    registry = undefined;
    rmSync(folder, { recursive: true });
  });

  it('shares by the weights of the registrations, and follows who comes and who goes', async () => {
    const { url } = await start();
    const [a, b] = [await serviceNamed('a'), await serviceNamed('b')];
    await tell('POST', a.port, 3);
    await tell('POST', b.port);
    const dispatcher = dispatcherFor({ registry: { url, interval: '100ms' }, services: ['s'] });
    await dispatcher.ready();
    expect(await namesOf(dispatcher, 8)).toEqual({ a: 6, b: 2 });
    const c = await serviceNamed('c');
    await tell('POST', c.port);
    await waitFor(() => endpointsOf(dispatcher) === 3, { limitMs: LIMIT_MS, what: 'the third instance' });
    await tell('DELETE', a.port);
    await waitFor(() => endpointsOf(dispatcher) === 2, { limitMs: LIMIT_MS, what: 'the first instance to be gone' });
    expect(await namesOf(dispatcher, 8)).toEqual({ b: 4, c: 4 });
    // Sooner than a connection expires that nobody uses.
    await waitFor(() => a.open() === 0, { limitMs: 1500, what: 'no connection to who is gone' });
  });

  it('lets a request end whose endpoint goes, and closes its connection then', async () => {
    const { url } = await start();
    const answers: (() => void)[] = [];
    const a = await serviceNamed('a', (_request, response) => void answers.push(() => response.end('a')));
    await tell('POST', a.port);
    const dispatcher = dispatcherFor({ registry: { url, interval: '100ms' }, services: ['s'], confirmEmpty: '50ms' });
    const asked = fetch('http://s/', { dispatcher });
    await waitFor(() => answers.length === 1, { limitMs: LIMIT_MS, what: 'the request' });
    await tell('DELETE', a.port);
    await waitFor(() => endpointsOf(dispatcher) === 0, { limitMs: LIMIT_MS, what: 'the instance to be gone' });
    expect(a.open()).toBe(1);
    answers[0]?.();
    expect(await (await asked).text()).toBe('a');
    await waitFor(() => a.open() === 0, { limitMs: 1500, what: 'no connection to who is gone' });
  });

  it('goes on with the last good answer while the registry is down, and says so', async () => {
    const { url, port } = await start();
    const a = await serviceNamed('a');
    await tell('POST', a.port);
    const logged: string[] = [];
    const write = (_fields: object, message: string): void => void logged.push(message);
    const log: Log = { debug: write, info: write, warn: write, error: write };
    const dispatcher = dispatcherFor({ registry: { url, interval: '100ms' }, services: ['s'], log });
    await dispatcher.ready();
    await registry?.stop();
    const isState = (state: string) => () => dispatcher.upstreams()[0]?.state === state;
    await waitFor(isState('stale'), { limitMs: LIMIT_MS, what: 'the failure to be noticed' });
    expect(dispatcher.upstreams()[0]).toMatchObject({ lastError: expect.stringContaining('connection refused') });
    expect(await namesOf(dispatcher, 5)).toEqual({ a: 5 });
    await start(port);
    await waitFor(isState('healthy'), { limitMs: LIMIT_MS, what: 'the registry to be back' });
    expect(logged).toEqual(['pool changed', 'discovery fails: the last good pool stays', 'discovery answers again']);
  });

  it('lets requests wait for the first answer', async () => {
    const [port = 0] = await findFreePorts(1);
    const a = await serviceNamed('a');
    const dispatcher = dispatcherFor({
      registry: { url: `http://127.0.0.1:${port}` },
      services: ['s'],
      readyTimeout: '20s',
    });
    const waiting = Promise.all([namesOf(dispatcher, 1), dispatcher.ready()]);
    const isFailing = () => dispatcher.upstreams()[0]?.lastError !== null;
    await waitFor(isFailing, { limitMs: LIMIT_MS, what: 'the first question' });
    await start(port);
    await tell('POST', a.port);
    expect((await waiting)[0]).toEqual({ a: 1 });
  });

  it('gives up waiting, with the reason', async () => {
    const [port] = await findFreePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const dispatcher = dispatcherFor({ registry: { url }, services: ['s'], readyTimeout: '100ms' });
    await expect(request('http://s/', { dispatcher })).rejects.toMatchObject({
      code: 'WEIR_NO_ENDPOINT',
      message: expect.stringMatching(/^no endpoint of s is known yet: registry at .*: connection refused$/),
    });
    await expect(dispatcher.ready()).rejects.toMatchObject({
      code: 'WEIR_NOT_READY',
      message: expect.stringMatching(/^discovery has not answered for s: registry at .*: connection refused$/),
    });
  });

  it('ends all waiting when it is destroyed', async () => {
    const [port] = await findFreePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const dispatcher = dispatcherFor({ registry: { url }, services: ['s'], readyTimeout: '60s' });
    const waiting = [dispatcher.ready(), request('http://s/', { dispatcher })];
    const ends = Promise.allSettled(waiting);
    await dispatcher.destroy();
    const codes = (await ends).map((end) => (end.status === 'rejected' ? end.reason.code : end.status));
    expect(codes).toEqual(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);
  });

  it('fails at once where the registry lists nobody', async () => {
    const { url } = await start();
    const dispatcher = dispatcherFor({ registry: { url }, services: ['s'], confirmEmpty: '50ms', readyTimeout: '20s' });
    await dispatcher.ready();
    await expect(request('http://s/', { dispatcher })).rejects.toMatchObject({
      code: 'WEIR_NO_ENDPOINT',
      message: 's has no endpoint that can take this request: discovery lists none',
    });
    expect(dispatcher.upstreams()[0]).toMatchObject({ state: 'empty', endpoints: [] });
  });

  it('ends a process that has closed its dispatcher, whether discovery worked or not', async () => {
    const { url } = await start();
    const a = await serviceNamed('a');
    await tell('POST', a.port);
    const [unused] = await findFreePorts(1);
    const run = async (...args: string[]) => {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLIENT_PROCESS, ...args], {
        timeout: 20_000,
      });
      return [stdout, stderr];
    };
    expect(await run(url, '60000')).toEqual(['a\n', '']);
    expect(await run(`http://127.0.0.1:${unused}`, '200')).toEqual(['WEIR_NO_ENDPOINT\n', '']);
  });
});

describe.skipIf(!hasConsul())('with Consul', () => {
  let consul: RealConsul;
  let instances: SampleInstance[] = [];

  beforeAll(async () => {
    consul = await startConsul();
  });
  endClientsAfterEach();
  afterEach(async () => {
    await Promise.all(instances.map((instance) => instance.kill()));
    instances = [];
  });
  afterAll(() => consul.kill());

  it('shares by weight, and steers at once when an instance is deregistered', async () => {
    instances = await startInstances('a', 'b');
    for (const [at, instance] of instances.entries()) await consul.register(registrationOf('orders', instance, at + 1));
    const dispatcher = dispatcherFor({ consul: { agents: [consul.url] }, services: ['orders'] });
    await dispatcher.ready();
    expect(await namesOf(dispatcher, 6, 'http://orders/')).toEqual({ a: 2, b: 4 });
    await consul.deregister('orders-b');
    await waitFor(() => endpointsOf(dispatcher) === 1, { limitMs: LIMIT_MS, what: 'the change' });
    expect(await namesOf(dispatcher, 6, 'http://orders/')).toEqual({ a: 6 });
  });

  it('loses no request that may be repeated when an instance is killed under load, and takes it back', async () => {
    instances = await startInstances('a', 'b', 'c');
    for (const instance of instances) await consul.register(registrationOf('killed', instance));
    const ejection = { base: '300ms' } as const;
    const dispatcher = dispatcherFor({ consul: { agents: [consul.url] }, services: { killed: { ejection } } });
    await dispatcher.ready();
    const failures: unknown[] = [];
    let answered = 0;
    let isEnough = false;
    const load = Array.from({ length: 16 }, async () => {
      while (!isEnough && failures.length === 0 && !dispatcher.closed) {
        const answer = await fetch('http://killed/?holdMs=2', { dispatcher }).catch((error: unknown) => error);
        if (answer instanceof Response && answer.status === 200) await answer.text();
        else failures.push(answer);
        answered++;
      }
    });
    const reach = (count: number) => {
      const isReached = () => answered >= count || failures.length > 0;
      return waitFor(isReached, { limitMs: 20_000, what: `${count} answers` });
    };
    const victim = instances[1];
    await reach(300);
    await victim?.kill();
    await reach(answered + 600);
    const view = () => dispatcher.upstreams()[0]?.endpoints.find(({ instances: [id] }) => id?.endsWith('killed-b'));
    expect(view()?.ejections).toBeGreaterThan(0);
    await victim?.start();
    await waitFor(() => view()?.state === 'active', { limitMs: 20_000, what: 'the instance to be taken back' });
    await reach(answered + 300);
    isEnough = true;
    await Promise.all(load);
    expect(failures).toEqual([]);
    expect(await victim?.requests()).toBeGreaterThan(50);
  });

  it('goes on with the last good answer when Consul is killed, and follows it when it is back', async () => {
    instances = await startInstances('a', 'b');
    const [a, b] = instances;
    if (a === undefined || b === undefined) throw new Error('two instances');
    await consul.register(registrationOf('outage', a));
    const dispatcher = dispatcherFor({ consul: { agents: [consul.url] }, services: ['outage'] });
    await dispatcher.ready();
    await consul.kill();
    const state = () => dispatcher.upstreams()[0]?.state;
    await waitFor(() => state() === 'stale', { limitMs: LIMIT_MS, what: 'the failure to be noticed' });
    expect(await namesOf(dispatcher, 5, 'http://outage/')).toEqual({ a: 5 });
    await consul.restart();
    await consul.register(registrationOf('outage', b));
    // Consul has forgotten everybody: for a moment there may be nobody to ask.
    const isB = async () => 'b' in (await namesOf(dispatcher, 1, 'http://outage/').catch(() => ({})));
    await waitFor(isB, { limitMs: 40_000, what: 'what Consul says now' });
    expect(state()).toBe('healthy');
  });
});

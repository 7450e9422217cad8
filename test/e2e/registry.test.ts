// `weir registry` as a process: its options, its end, a crash under load, a database that dies, two on one database.
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { hasMariadb, type RealMariadb, startMariadb } from '../support/real-mariadb.ts';
import { type SampleInstance, startInstances } from '../support/sample-service.ts';
import { type Answer, send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startCommand, type WeirCommand } from '../support/weir-command.ts';
import { startWeir } from '../support/weir-process.ts';

const LIMIT_MS = 20_000;

let folder: string;
let owned: AsyncDisposableStack;
beforeEach(async () => {
  owned = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'weir-registry-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await owned.disposeAsync();
  await rm(folder, { recursive: true });
});

interface RegistryProcess {
  readonly command: WeirCommand;
  readonly url: string;
}

/** Starts `weir registry` and waits until it answers, whatever it answers. */
async function startRegistry(options: { port: number; args?: readonly string[] }): Promise<RegistryProcess> {
  const { port, args = [] } = options;
  const command = startCommand(['registry', '--listen', `127.0.0.1:${port}`, ...args], folder);
  owned.defer(() => command.kill());
  const url = `http://127.0.0.1:${port}`;
  const isThere = async () => {
    if (command.end !== null) throw new Error(`weir registry ended: ${command.stderr}`);
    return send(`${url}/instances?service=nobody`).then(
      () => true,
      () => false,
    );
  };
  await waitFor(isThere, { limitMs: LIMIT_MS, what: 'a registry that answers' });
  return { command, url };
}

async function freePort(): Promise<number> {
  const [port = 0] = await findFreePorts(1);
  return port;
}

function register({ url }: RegistryProcess, record: object, more: object = {}): Promise<Answer> {
  const web = { service: 'web', addr: '10.0.0.5', port: 8080, ...record };
  return send(`${url}/register`, { method: 'POST', body: JSON.stringify(web), ...more });
}

async function names({ url }: RegistryProcess, service = 'web'): Promise<string[]> {
  const { status, body } = await send(`${url}/instances?service=${service}`);
  if (status !== 200) throw new Error(`/instances answered ${status}: ${body}`);
  const { instances } = JSON.parse(body);
  return instances.map(({ instance }: { instance: string }) => instance);
}

async function mariadb(): Promise<RealMariadb> {
  const database = await startMariadb();
  owned.defer(() => database.close());
  return database;
}

describe('weir registry', () => {
  it('tells its options, and what is wrong with those it gets', async () => {
    const run = async (...args: string[]) => {
      const command = startCommand(['registry', ...args], folder);
      const { code } = await command.ended(LIMIT_MS);
      return { code, stderr: command.stderr, lines: command.lines };
    };
    expect(await run('--help')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^usage: weir registry \[--listen ADDR\] \[--store URL\] \[--secret-env NAME\]/),
    });
    const wrong: [string[], RegExp][] = [
      [['--listen', '8510'], /--listen must be an address/],
      [['--listen', '0.0.0.0:8510'], /not a loopback address: set WEIR_REGISTRY_SECRET/],
      [['--store', 'mysql://weir:hunter2@db'], /--store must be a store like sqlite:/],
      [
        ['--store', `mysql://weir:\${NOT_SET_ANYWHERE}@db/weir`],
        /the environment variable NOT_SET_ANYWHERE is not set/,
      ],
      [['--secret-env', 'NOT_SET_ANYWHERE'], /the environment variable NOT_SET_ANYWHERE is not set/],
      [['--what'], /Unknown option '--what'/],
      [['what'], /Unexpected argument 'what'/],
    ];
    for (const [args, sentence] of wrong) {
      const { code, stderr } = await run(...args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(sentence)]);
      expect(stderr).not.toContain('hunter2');
    }
    expect(await run('--store', `sqlite:${folder}`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the registry cannot use sqlite:/),
    });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('keeps a table in its folder and ends with 0 at %s', async (signal) => {
    const port = await freePort();
    const registry = await startRegistry({ port });
    expect((await register(registry, { instance: 'web-1' })).status).toBe(200);
    registry.command.signal(signal);
    expect(await registry.command.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    expect(registry.command.stderr).toBe('');
    for (const line of registry.command.lines) expect(JSON.parse(line)).toMatchObject({ level: 'info' });
    expect(await names(await startRegistry({ port }))).toEqual(['web-1']);
  });

  it('takes its secret and its password from the environment, and tells neither', async () => {
    vi.stubEnv('TEST_SECRET', 's3cret');
    vi.stubEnv('TEST_PASSWORD', 'hunter2');
    const args = ['--secret-env', 'TEST_SECRET', '--store', `mysql://weir:\${TEST_PASSWORD}@127.0.0.1:1/weir`];
    const registry = await startRegistry({ port: await freePort(), args });
    expect((await register(registry, { instance: 'web-1' })).status).toBe(401);
    const headers = { authorization: 'Bearer s3cret' };
    // Nobody listens on port 1.
    expect((await register(registry, { instance: 'web-1' }, { headers })).status).toBe(503);
    await registry.command.stop();
    expect(registry.command.lines.join('\n')).toMatch(/ECONNREFUSED/);
    expect(`${registry.command.lines.join('\n')}${registry.command.stderr}`).not.toMatch(/s3cret|hunter2/);
  });

  it('loses nothing that it has confirmed when it is killed under load', async () => {
    const port = await freePort();
    let registry = await startRegistry({ port });
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    owned.defer(() => agent.destroy());
    const confirmed = new Set<string>();
    const left = new Set<string>();
    /** Registers new instances, lets every tenth leave again, and goes on through the crash. */
    async function client(name: string, isOver: () => boolean): Promise<void> {
      for (let at = 0; !isOver(); at++) {
        const instance = `${name}-${at}`;
        const body = JSON.stringify({ service: 'web', instance, addr: '10.0.0.5', port: 8080 });
        await send(`${registry.url}/register`, { method: 'POST', body, agent }).then(
          ({ status }) => status === 200 && confirmed.add(instance),
          () => delay(5),
        );
        if (at % 10 !== 0 || !confirmed.has(instance)) continue;
        confirmed.delete(instance);
        const gone = await send(`${registry.url}/register?service=web&instance=${instance}`, {
          method: 'DELETE',
          agent,
        })
          .then(({ status }) => status === 200)
          .catch(() => false);
        if (gone) left.add(instance);
      }
    }
    let isOver = false;
    const clients = Array.from({ length: 16 }, (_, at) => client(`${at}`, () => isOver));
    await waitFor(() => confirmed.size > 150, { limitMs: LIMIT_MS, what: 'confirmed registrations' });
    await registry.command.kill();
    registry = await startRegistry({ port });
    const atRestart = confirmed.size;
    await waitFor(() => confirmed.size > atRestart + 50, { limitMs: LIMIT_MS, what: 'registrations after the crash' });
    isOver = true;
    await Promise.all(clients);
    const listed = new Set(await names(registry));
    expect([...confirmed].filter((name) => !listed.has(name))).toEqual([]);
    expect([...left].filter((name) => listed.has(name))).toEqual([]);
    await registry.command.stop();
  });

  it('is a source for a gateway, which goes on while the registry is killed and comes back', async () => {
    const port = await freePort();
    let registry = await startRegistry({ port });
    const [one, two] = await startInstances('one', 'two');
    for (const instance of [one, two]) owned.defer(() => instance?.kill());
    const record = (instance: SampleInstance | undefined) => {
      return { instance: instance?.name, addr: '127.0.0.1', port: instance?.port };
    };
    await register(registry, record(one));
    const weir = await startWeir({
      routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
      gateway: {
        discovery: { source: 'registry', registry: { url: registry.url, interval: '100ms' }, confirmEmpty: '100ms' },
      },
    });
    owned.defer(() => weir.close());
    await weir.activePorts('web', [one?.port ?? 0]);
    await registry.command.kill();
    await weir.serviceWith('web', 'an error of the registry', ({ lastError }) => lastError !== null);
    expect((await weir.get('/')).status).toBe(200);
    registry = await startRegistry({ port });
    await register(registry, record(two));
    await weir.activePorts('web', [one?.port ?? 0, two?.port ?? 0]);
    await registry.command.stop();
  });
});

describe.skipIf(!hasMariadb())('weir registry over MariaDB', () => {
  it('answers 503 while the database is dead, never ends, and has every instance back after a heartbeat', async () => {
    const database = await mariadb();
    const registry = await startRegistry({ port: await freePort(), args: ['--store', database.url] });
    const instances = Array.from({ length: 20 }, (_, at) => `web-${String(at).padStart(2, '0')}`);
    const beat = () => Promise.all(instances.map(async (instance) => (await register(registry, { instance })).status));
    expect(new Set(await beat())).toEqual(new Set([200]));
    await database.kill();
    expect(new Set(await beat())).toEqual(new Set([503]));
    expect((await send(`${registry.url}/instances?service=web`)).status).toBe(503);
    expect(registry.command.end).toBeNull();
    await database.restart();
    await waitFor(async () => (await beat()).every((status) => status === 200), {
      limitMs: LIMIT_MS,
      what: 'heartbeats that are taken',
    });
    expect(await names(registry)).toEqual(instances);
    await registry.command.stop();
    expect(registry.command.lines.join('\n')).not.toContain(database.location.password);
  });

  it('starts before its database and serves once that is there', async () => {
    const database = await mariadb();
    await database.kill();
    const registry = await startRegistry({ port: await freePort(), args: ['--store', database.url] });
    expect((await register(registry, { instance: 'web-1' })).status).toBe(503);
    await database.restart();
    await waitFor(async () => (await register(registry, { instance: 'web-1' })).status === 200, {
      limitMs: LIMIT_MS,
      what: 'a registration',
    });
    expect(await names(registry)).toEqual(['web-1']);
    await registry.command.stop();
  });

  it('agrees with a second one, and with the one inside a gateway, when one of them is killed', async () => {
    const database = await mariadb();
    const args = ['--store', database.url];
    const one = await startRegistry({ port: await freePort(), args });
    const two = await startRegistry({ port: await freePort(), args });
    const [instance] = await startInstances('one');
    owned.defer(() => instance?.kill());
    const inside = `127.0.0.1:${await freePort()}`;
    const weir = await startWeir({
      routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
      gateway: {
        discovery: {
          source: 'registry',
          registry: { url: `http://${inside}`, interval: '100ms' },
          embeddedRegistry: { address: inside, store: database.url, secret: 's3cret' },
          confirmEmpty: '100ms',
        },
      },
    });
    owned.defer(() => weir.close());
    await register(one, { instance: instance?.name, addr: '127.0.0.1', port: instance?.port });
    await weir.activePorts('web', [instance?.port ?? 0]);
    expect((await weir.get('/')).status).toBe(200);
    expect((await send(`http://${inside}/register`, { method: 'POST', body: '{}' })).status).toBe(401);

    await register(one, { service: 'api', instance: 'of-one' });
    await one.command.kill();
    await register(two, { service: 'api', instance: 'of-two' });
    await waitFor(async () => String(await names(two, 'api')) === 'of-one,of-two', {
      limitMs: LIMIT_MS,
      what: 'the instances of both',
    });
    await send(`${two.url}/register?service=web&instance=${instance?.name}`, { method: 'DELETE' });
    await weir.activePorts('web', []);
    expect(
      weir
        .log()
        .map((line) => JSON.stringify(line))
        .join('\n'),
    ).not.toMatch(/s3cret|s%25cret/);
  });
});

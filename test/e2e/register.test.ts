// `weir register` with the table registry: when it registers, in which order it leaves, and how it ends.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningRegistry, startRegistry } from '../../gateway/registration/registry-server.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { type RegisteredOptions, type RegisteredProcess, startRegistered } from '../support/registered-process.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 20_000;
const LONG_DRAIN = ['--drain', '1h'];
const NO_DRAIN = ['--drain', '0s'];

let owned: AsyncDisposableStack;
let registry: RunningRegistry;

beforeEach(async () => {
  owned = new AsyncDisposableStack();
  registry = await start(0);
});
afterEach(() => owned.disposeAsync());

async function start(port: number, secret = ''): Promise<RunningRegistry> {
  const options = { host: '127.0.0.1', port, store: { kind: 'sqlite', path: ':memory:' }, secret } as const;
  const running = await startRegistry(options);
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await running.stop();
    isStopped = true;
  };
  owned.defer(stop);
  return { ...running, stop };
}

async function wrap(options: readonly string[] = [], more: Partial<RegisteredOptions> = {}, url = registry.url) {
  const lookup = `${url}/instances?service=web`;
  const all = ['--registry', url, ...options];
  const wrapped: RegisteredProcess = await startRegistered({ lookup, ...more, options: all });
  owned.defer(() => wrapped.close());
  return wrapped;
}

async function instances(): Promise<{ instance: string; addr: string; port: number; meta: object }[]> {
  return JSON.parse((await send(`${registry.url}/instances?service=web`)).body).instances;
}

async function listed(count: number): Promise<void> {
  const is = async () => (await instances()).length === count;
  await waitFor(is, { limitMs: LIMIT_MS, what: `${count} instances in the registry` });
}

describe('a command that begins', () => {
  it('is registered with weight, tags and meta, and not before its port answers', async () => {
    const options = ['--weight', '4', '--tag', 'v2', '--tag', 'blue', '--meta', 'zone=a', '--meta', 'note='];
    const web = await wrap(options, { isClosed: true });
    await web.said('pid');
    expect(await instances()).toEqual([]);
    web.command.signal('SIGUSR2');
    expect(await web.said('opens')).toBe('0');
    await listed(1);
    expect(await instances()).toEqual([
      {
        instance: expect.stringMatching(new RegExp(`^web-.+-${web.port}-[0-9a-f]{8}$`)),
        addr: '127.0.0.1',
        port: web.port,
        meta: { weight: 4, tags: ['v2', 'blue'], zone: 'a', note: '' },
      },
    ]);
  });

  it('has an ID that no other instance has, not even one of the same address', async () => {
    const web = await wrap(NO_DRAIN);
    const twin = await wrap(NO_DRAIN, { as: { address: '127.0.0.1', port: web.port } });
    await listed(2);
    const all = await instances();
    expect(all.map(({ port }) => port)).toEqual([web.port, web.port]);
    expect(new Set(all.map(({ instance }) => instance)).size).toBe(2);
    twin.command.signal('SIGTERM');
    await twin.ended();
    expect(await instances()).toHaveLength(1);
  });

  it('runs although the registry is down, and is registered when that comes up', async () => {
    const [port = 0] = await findFreePorts(1);
    const web = await wrap([], {}, `http://127.0.0.1:${port}`);
    await web.told(`the registry at http://127.0.0.1:${port}: connect ECONNREFUSED`);
    const pid = await web.get('/');
    registry = await start(port);
    await listed(1);
    expect(await web.get('/')).toBe(pid);
    expect(web.command.stderr.match(/trying again/g)).toHaveLength(1);
  });

  it('is not registered where it does not answer, and the operator is told what may be wrong', async () => {
    const web = await wrap([], { as: { address: '127.0.0.2' } });
    await web.told(`but 127.0.0.1:${web.port} answers: let it listen on 127.0.0.2, or register it with --address`);
    expect(await instances()).toEqual([]);
  });

  it('is registered by its secret, which nobody is told', async () => {
    registry = await start(0, 'open-sesame');
    const stranger = await wrap(['--id', 'stranger']);
    await stranger.told('status 401: "writing needs the secret');
    process.env.WEIR_REGISTRY_SECRET = 'open-sesame';
    try {
      const friend = await wrap(['--id', 'friend']);
      await listed(1);
      expect(await instances()).toMatchObject([{ instance: 'friend' }]);
      expect(friend.command.stderr).not.toContain('open-sesame');
    } finally {
      delete process.env.WEIR_REGISTRY_SECRET;
    }
  });
});

describe('a registered command', () => {
  it('is taken out while its health path does not answer 2xx, and comes back', async () => {
    const web = await wrap(['--http', '/health', '--interval', '1s']);
    await listed(1);
    await web.get('/sick');
    await listed(0);
    await web.told('is not well: GET /health answered 503');
    await web.get('/well');
    await listed(1);
  });

  it('is taken out while its port does not answer, and comes back', async () => {
    const web = await wrap(['--ttl', '3s']);
    await listed(1);
    web.command.signal('SIGUSR2');
    await listed(0);
    web.command.signal('SIGUSR2');
    await listed(1);
  });

  it('comes back when the registry has lost it', async () => {
    await wrap(['--interval', '1s']);
    await listed(1);
    const [before] = await instances();
    const { port } = registry;
    await registry.stop();
    registry = await start(port);
    await listed(1);
    expect(await instances()).toEqual([before]);
  });

  it.each(['SIGHUP', 'SIGUSR1'] as const)('gets %s at once and stays registered', async (signal) => {
    const web = await wrap(LONG_DRAIN);
    await listed(1);
    web.command.signal(signal);
    expect(await web.said(signal)).toBe('1');
    expect(await instances()).toHaveLength(1);
  });
});

describe('a registered command that is told to end', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)('leaves the registry before it gets %s', async (signal) => {
    const web = await wrap(['--drain', '300ms']);
    await listed(1);
    const signalledMs = performance.now();
    web.command.signal(signal);
    expect(await web.said(signal)).toBe('0');
    expect(performance.now() - signalledMs).toBeGreaterThanOrEqual(300);
    expect(await web.ended()).toEqual({ code: 7, signal: null });
  });

  it('serves on during the drain time, and gets a second signal at once', async () => {
    const web = await wrap(LONG_DRAIN);
    await listed(1);
    web.command.signal('SIGTERM');
    await web.told('SIGTERM: deregistered, the command gets it in 3600s');
    expect(await instances()).toEqual([]);
    expect(await web.get('/')).toBe(await web.said('pid'));
    expect(web.hasSaid('SIGTERM')).toBe(false);
    web.command.signal('SIGINT');
    expect(await web.said('SIGINT')).toBe('0');
    expect(await web.ended()).toEqual({ code: 7, signal: null });
    expect(web.hasSaid('SIGTERM')).toBe(false);
  });

  it('gets the signal at once while it is not registered', async () => {
    const web = await wrap(LONG_DRAIN, { isClosed: true });
    await web.said('pid');
    web.command.signal('SIGTERM');
    expect(await web.said('SIGTERM')).toBe('0');
    expect(await web.ended()).toEqual({ code: 7, signal: null });
  });

  it('gets the signal although the registry has gone, and leaves if that comes back in time', async () => {
    const web = await wrap(LONG_DRAIN);
    await listed(1);
    const { port } = registry;
    await registry.stop();
    web.command.signal('SIGTERM');
    await web.told('SIGTERM: still registered, the command gets it in 3600s');
    registry = await start(port);
    await web.told('weir register: deregistered\n');
    web.command.signal('SIGINT');
    expect(await web.ended()).toEqual({ code: 7, signal: null });
  });

  it('ends although the registry has gone for good', async () => {
    const web = await wrap(NO_DRAIN);
    await listed(1);
    await registry.stop();
    web.command.signal('SIGTERM');
    expect(await web.said('SIGTERM')).toBe('unknown');
    expect(await web.ended()).toEqual({ code: 7, signal: null });
    expect(web.command.stderr).toContain('did not deregister: connect ECONNREFUSED');
  });
});

describe('a command that ends by itself', () => {
  it('is deregistered at once, and its code is that of the wrapper', async () => {
    const web = await wrap(LONG_DRAIN);
    await listed(1);
    await web.get('/crash').catch(() => undefined);
    expect(await web.ended()).toEqual({ code: 3, signal: null });
    expect(await instances()).toEqual([]);
    expect(web.command.stderr).toContain('exited with 3\nweir register: deregistered\n');
  });

  it('during the drain time ends that', async () => {
    const web = await wrap(LONG_DRAIN);
    await listed(1);
    web.command.signal('SIGTERM');
    await web.told('SIGTERM: deregistered');
    await web.get('/crash').catch(() => undefined);
    expect(await web.ended()).toEqual({ code: 3, signal: null });
  });

  it('by a signal gives 128 and its number', async () => {
    const web = await wrap();
    await listed(1);
    process.kill(Number(await web.said('pid')), 'SIGKILL');
    expect(await web.ended()).toEqual({ code: 137, signal: null });
    expect(await instances()).toEqual([]);
  });

  it('before it answers is never registered, and its code is that of the wrapper', () => {
    expect(run('sh', '-c', 'exit 5')).toMatchObject({ status: 5, stderr: 'weir register: sh exited with 5\n' });
  });

  it('because there is none gives 127, because it cannot run 126', () => {
    const missing = run('no-such-command');
    expect(missing).toMatchObject({ status: 127, stderr: 'weir register: no-such-command: command not found\n' });
    expect(run('/dev/null')).toMatchObject({ status: 126, stderr: expect.stringContaining('/dev/null cannot be run') });
  });

  function run(...command: string[]) {
    const options = ['--name', 'web', '--port', '1', '--registry', registry.url];
    return weir(...options, '--', ...command);
  }
});

describe('the command line', () => {
  it('answers --help on standard error', () => {
    expect(weir('--help')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringContaining('--deregister-after'),
    });
  });

  it('is refused with every problem at once, and nothing runs', () => {
    process.env.CONSUL_HTTP_TOKEN = 'two words';
    try {
      expect(weir('--prot', '1', '--weight', '-1', '--', 'sh', '-c', 'echo ran')).toEqual({
        status: 2,
        stdout: '',
        stderr: [
          'weir register: unknown option "--prot", did you mean --port?',
          'weir register: --name is missing',
          'weir register: --port is missing',
          'weir register: --weight: expected a whole number from 0 to 65535, got "-1"',
          'weir register: CONSUL_HTTP_TOKEN has characters that a header field cannot carry',
          '',
          'usage: weir register --name NAME --port N [options] -- COMMAND [ARGUMENT]…',
          '       weir register --help',
          '',
        ].join('\n'),
      });
    } finally {
      delete process.env.CONSUL_HTTP_TOKEN;
    }
  });
});

const CLI = fileURLToPath(new URL('../../gateway/cli.ts', import.meta.url));

function weir(...args: string[]) {
  const options = { encoding: 'utf8', timeout: LIMIT_MS } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'register', ...args], options);
  return { status, stdout, stderr };
}

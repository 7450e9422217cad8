// `weir upstreams` against a running gateway: the table, the document, and the watch that outlives the gateway.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { startCommand, type WeirCommand } from '../support/weir-command.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const CLI = fileURLToPath(new URL('../../gateway/cli.ts', import.meta.url));
const TOKEN = 'only-for-tests-4711';
const LIMIT_MS = 20_000;

const owned = new AsyncDisposableStack();
let server: LocalServer;
let weir: WeirProcess;

function upstreams(args: readonly string[], environment: Record<string, string> = {}) {
  const { WEIR_ADMIN_TOKEN: _token, WEIR_ADMIN_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, WEIR_ADMIN_URL: weir.adminUrl, WEIR_ADMIN_TOKEN: TOKEN, ...environment };
  const options = { cwd: weir.folder, env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'upstreams', ...args], options);
  return { status, stdout, stderr };
}

beforeAll(async () => {
  server = owned.adopt(await startHttpServer((_request, response) => response.end('ok')), (each) => each.stop());
  const endpoints = [{ address: `127.0.0.1:${server.port}`, weight: 4 }];
  weir = owned.adopt(
    await startWeir({
      routes: {
        orders: { service: 'order-service', endpoints, match: [{ paths: ['/orders'] }] },
        idle: {
          service: 'idle-service',
          endpoints: [{ address: '127.0.0.1:1', weight: 0 }],
          match: [{}],
          fallback: { chain: [{ respond: { status: 200, body: 'ok' } }] },
        },
      },
      adminToken: TOKEN,
    }),
    (gateway) => gateway.close(),
  );
});
afterAll(() => owned.disposeAsync());

describe('weir upstreams', () => {
  it('shows every service and endpoint as a table, without colours in a pipe', async () => {
    await weir.get('/orders');
    const { status, stdout, stderr } = upstreams([]);
    expect([status, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(
      /^weir \d+\.\d+\.\d+, pid \d+, up \d+s, 2 workers, worker \d leads discovery, snapshot \d+ from static$/,
    );
    expect(stdout).toContain('\norder-service  healthy  static  weighted_round_robin\n');
    expect(stdout).toMatch(new RegExp(`\\n  127\\.0\\.0\\.1:${server.port} +4/4  active +0 +1 +0 +[\\d.]+ ms\\n`));
    expect(stdout).toContain('\nidle-service  empty  static  weighted_round_robin\n');
    expect(stdout).toContain('its weight is 0');
    expect(stdout).not.toContain('\u001b');
  });

  it('shows one service where that is wanted, and exits 1 when there is none of that name', () => {
    const { stdout } = upstreams(['--service', 'order-service']);
    expect(stdout).toContain('\norder-service  healthy');
    expect(stdout).not.toContain('idle-service');
    expect(upstreams(['--service', 'nix'])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'weir upstreams: no route has the service nix; there are: idle-service, order-service\n',
    });
  });

  it('prints the document of the admin address as JSON', async () => {
    const page = await weir.upstreams();
    const printed = JSON.parse(upstreams(['--json']).stdout);
    expect(Object.keys(printed)).toEqual(Object.keys(page));
    expect(printed.services).toMatchObject(page.services.map(({ service, endpoints }) => ({ service, endpoints })));
    const one = JSON.parse(upstreams(['--json', '--service', 'idle-service']).stdout);
    expect(one.services).toHaveLength(1);
    expect(one.gateway.pid).toBe(page.gateway.pid);
  });

  it('says what is amiss with the token, and exits 1', () => {
    const wants = `weir upstreams: the gateway at ${weir.adminUrl} wants the token of its admin address`;
    expect(upstreams([], { WEIR_ADMIN_TOKEN: '' })).toEqual({
      status: 1,
      stdout: '',
      stderr: `${wants}: set WEIR_ADMIN_TOKEN\n`,
    });
    for (const args of [[], ['--watch']]) {
      expect(upstreams(args, { WEIR_ADMIN_TOKEN: 'other' })).toEqual({
        status: 1,
        stdout: '',
        stderr: `${wants}: the one in WEIR_ADMIN_TOKEN is another\n`,
      });
    }
  });

  it('says that no gateway answers, or that what answers is none, and exits 1', async () => {
    const [port = 0] = await findFreePorts(1);
    expect(upstreams(['--admin', `http://127.0.0.1:${port}`])).toEqual({
      status: 1,
      stdout: '',
      stderr: `weir upstreams: no gateway answers at http://127.0.0.1:${port}: connection refused\n`,
    });
    // The public listener of the gateway itself, whose fallback says "ok" to everything.
    expect(upstreams(['--admin', weir.url])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'weir upstreams: what answers is not the admin address of a Weir of this version\n',
    });
  });

  it.each([['--unknown'], ['extra'], ['--admin', 'nonsense']])('refuses %s with its usage, and exits 2', (...args) => {
    const { status, stdout, stderr } = upstreams(args);
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining('usage: weir upstreams')]);
  });

  it('answers --help', () => {
    expect(upstreams(['--help'])).toMatchObject({ status: 0, stdout: '', stderr: expect.stringContaining('--watch') });
  });
});

describe('weir upstreams --watch', () => {
  let watched: WeirProcess;

  beforeAll(async () => {
    const endpoints = [`127.0.0.1:${server.port}`];
    watched = owned.adopt(await startWeir({ routes: { r: { service: 's', endpoints } } }), (gateway) =>
      gateway.close(),
    );
  });

  function watch(...args: string[]): WeirCommand {
    const command = startCommand(['upstreams', '--watch', '--admin', watched.adminUrl, ...args], watched.folder);
    return owned.adopt(command, (each) => each.kill());
  }

  it.each(['SIGINT', 'SIGTERM'] as const)('shows the table again and again until %s, and exits 0', async (signal) => {
    const command = watch();
    const tables = () => command.lines.filter((line) => line.startsWith('weir ')).length >= 3;
    await waitFor(tables, { limitMs: LIMIT_MS, what: 'three tables' });
    command.signal(signal);
    expect(await command.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    expect(command.stderr).toBe('');
  });

  it('says when the gateway is away, and comes back with it', async () => {
    const command = watch('--json');
    await waitFor(() => command.lines.length > 0, { limitMs: LIMIT_MS, what: 'a document' });
    await watched.stop();
    const away = `weir upstreams: no gateway answers at ${watched.adminUrl}: `;
    await waitFor(() => command.stderr.includes(away), { limitMs: LIMIT_MS, what: 'word that it is away' });
    const { length } = command.lines;
    await watched.start();
    await waitFor(() => command.lines.length > length, { limitMs: LIMIT_MS, what: 'a document of the new gateway' });
    const pids = command.lines.map((line) => JSON.parse(line).gateway.pid);
    expect(new Set(pids)).toHaveLength(2);
    expect(command.stderr).toMatch(/; asking again every second\nweir upstreams: it answers again\n$/);
    command.signal('SIGINT');
    expect(await command.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
  });

  it('waits for a gateway that is not there yet', async () => {
    const [port = 0] = await findFreePorts(1);
    const command = startCommand(['upstreams', '--watch', '--admin', `http://127.0.0.1:${port}`], watched.folder);
    owned.adopt(command, (each) => each.kill());
    await waitFor(() => command.stderr !== '', { limitMs: LIMIT_MS, what: 'word that it is away' });
    command.signal('SIGTERM');
    expect(await command.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    expect(command.lines).toEqual([]);
  });

  it('ends well when its reader goes', async () => {
    const args = [CLI, 'upstreams', '--watch', '--admin', watched.adminUrl];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    owned.defer(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await ended).toEqual([0, null]);
  });
});

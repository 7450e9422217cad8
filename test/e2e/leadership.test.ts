// A leader whose event loop stands still: it is deposed, another asks in its place, and its late words change nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consulEntry } from '../support/consul-entry.ts';
import { type ScriptedConsul, startScriptedConsul } from '../support/scripted-consul.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';
import { withHook } from '../support/with-hook.ts';

const HOOK = new URL('../support/stall-hook.ts', import.meta.url);
const STALL_MS = 6000;

describe('a leader that stands still', () => {
  const owned = new AsyncDisposableStack();
  let consul: ScriptedConsul;
  let weir: WeirProcess;
  let stallFile = '';

  beforeAll(async () => {
    const folder = owned.adopt(await mkdtemp(join(tmpdir(), 'weir-stall-')), (path) => rm(path, { recursive: true }));
    stallFile = join(folder, 'stall');
    consul = owned.adopt(await startScriptedConsul(), (each) => each.stop());
    publish(9001);
    process.env.WEIR_STALL_FILE = stallFile;
    const options = {
      routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
      gateway: { discovery: { consul: { agents: [consul.url], wait: '10s' } } },
    };
    weir = owned.adopt(await withHook(HOOK, () => startWeir(options)), (gateway) => gateway.close());
    await weir.activePorts('web', [9001]);
  });
  afterAll(() => owned.disposeAsync());

  function publish(...ports: number[]): void {
    consul.set('web', { entries: ports.map((port) => consulEntry({ id: `web-${port}`, address: '127.0.0.1', port })) });
  }

  it('is followed within the lease and a second, while changes arrive, and does not lead again when it wakes', async () => {
    const before = (await weir.upstreams()).gateway.leader;
    await writeFile(stallFile, `weir worker ${before.worker}\n${STALL_MS}`);
    const stalledMs = performance.now();
    weir.signal('SIGUSR2');
    publish(9001, 9002);
    const after = await waitFor(
      async () => {
        const { leader } = (await weir.upstreams()).gateway;
        return leader.term > before.term && leader;
      },
      { limitMs: 5000, what: 'another leader' },
    );
    expect(performance.now() - stalledMs).toBeLessThan(4500);
    expect(after).toEqual({ worker: before.worker === 1 ? 2 : 1, term: before.term + 1 });

    publish(9001, 9002, 9003);
    const ports = async () => (await weir.service('web')).endpoints.map(({ endpoint }) => endpoint).join(' ');
    await waitFor(async () => (await ports()) === '127.0.0.1:9001 127.0.0.1:9002 127.0.0.1:9003', {
      limitMs: 2000,
      what: 'the change under the new leader',
    });

    // It wakes with answers of its own that it had asked for before.
    await waitFor(() => performance.now() - stalledMs > STALL_MS + 1000, {
      limitMs: STALL_MS + 2000,
      what: 'it to wake',
    });
    expect((await weir.upstreams()).gateway.leader).toEqual(after);
    expect(await ports()).toBe('127.0.0.1:9001 127.0.0.1:9002 127.0.0.1:9003');
    await waitFor(() => consul.waiting === 1, { limitMs: 3000, what: 'exactly one query to be held' });

    publish(9002);
    await weir.activePorts('web', [9002]);
    expect((await weir.upstreams()).gateway.leader).toEqual(after);
  });
});

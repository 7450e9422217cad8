// `weir demo`: something to try in under a minute, and nothing left of it afterwards.
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { startLoad } from '../support/load.ts';
import { waitFor } from '../support/wait-for.ts';
import { startCommand, type WeirCommand } from '../support/weir-command.ts';

const UNDER_A_MINUTE_MS = 60_000;

it.each(['SIGINT', 'SIGTERM'] as const)(
  'weir demo serves within a minute, loses no GET to a killed instance, and leaves nothing after %s',
  async (signal) => {
    const [port = 0, adminPort = 0, registryPort = 0] = await findFreePorts(3);
    const ports = { '--port': port, '--admin-port': adminPort, '--registry-port': registryPort };
    const startedMs = performance.now();
    const demo = startCommand(
      ['demo', ...Object.entries(ports).flatMap(([name, value]) => [name, `${value}`])],
      tmpdir(),
    );
    let pids: number[] = [];
    try {
      pids = await waitFor(() => instancePids(demo), { limitMs: UNDER_A_MINUTE_MS, what: 'the welcome' });
      const load = startLoad({ url: `http://127.0.0.1:${port}/`, fresh: 4, kept: 4 });
      try {
        await waitFor(() => load.sent - load.failed.length > 300, { limitMs: 10_000, what: 'answers' });
        expect(performance.now() - startedMs).toBeLessThan(UNDER_A_MINUTE_MS);
        const sent = load.sent;
        process.kill(pids[1] ?? 0, 'SIGKILL');
        await waitFor(() => load.sent > sent + 1000, { limitMs: 20_000, what: 'a thousand requests' });
      } finally {
        await load.stop();
      }
      expect(load.failed).toEqual([]);

      demo.signal(signal);
      expect(await demo.ended(10_000)).toEqual({ code: 0, signal: null });
      expect([demo.pid, ...pids].filter(isAlive)).toEqual([]);
    } finally {
      await demo.kill();
      for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
    }
  },
);

/** The process IDs that the welcome names. */
function instancePids({ stderr }: WeirCommand): number[] | false {
  const pids = stderr.matchAll(/hello-\d +weight \d +pid (\d+)\n/g).map(([, pid]) => Number(pid));
  const found = [...pids];
  return found.length === 3 && stderr.includes('Ctrl-C') && found;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

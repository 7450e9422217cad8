// Starts a process of Node that loads a module of the tests into each of its threads.
import { fileURLToPath } from 'node:url';

/** Calls `start` while children of this process get the module `hook` by `--import`. */
export async function withHook<T>(hook: URL, start: () => Promise<T>): Promise<T> {
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `--import=${fileURLToPath(hook)}`;
  try {
    return await start();
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  }
}

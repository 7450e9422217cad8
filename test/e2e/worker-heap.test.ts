// Where the workers of a real gateway make their objects.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startWeir } from '../support/weir-process.ts';
import { withHook } from '../support/with-hook.ts';

const HOOK = new URL('../support/young-hook.ts', import.meta.url);

it('after a burst whose objects lived longer, workers still make the next ones in new space, where they end', async () => {
  await using owned = new AsyncDisposableStack();
  const folder = owned.adopt(await mkdtemp(join(tmpdir(), 'weir-young-')), (path) => rm(path, { recursive: true }));
  process.env.WEIR_YOUNG_FILE = join(folder, 'young');
  const routes = { web: { service: 'web', endpoints: ['127.0.0.1:9'], match: [{ paths: ['/*'] }] } };
  const weir = await withHook(HOOK, () => startWeir({ routes }));
  await weir.close();
  const files = await readdir(folder);
  expect(files.sort()).toEqual(['young weir worker 1', 'young weir worker 2']);
  for (const file of files) expect(Number(await readFile(join(folder, file), 'utf8'))).toBeGreaterThan(990);
});

// The files that fallbacks answer with: read with their routes, or a problem at the key that names them.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../gateway/config/load.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';

const MIB = 1024 * 1024;

let home = '';

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'weir-fallback-'));
  await mkdir(join(home, 'config'));
  await mkdir(join(home, 'routes/pages'), { recursive: true });
  await writeFile(join(home, 'config/gateway.yaml'), '');
});

afterEach(async () => {
  await rm(home, { recursive: true });
});

/** What the links of route `a` answer with; or all problems, with paths from the folder of the test. */
async function load(chain: string, environment: Record<string, string> = {}): Promise<string[]> {
  await writeFile(join(home, 'routes/a.yaml'), `service: a\nfallback:\n  chain: [${chain}]\n`);
  const result = await loadConfig({ gatewayFile: join(home, 'config/gateway.yaml'), environment });
  if (!result.ok) return result.problems.map((problem) => formatProblem(problem).replaceAll(`${home}/`, ''));
  expect(structuredClone(result.routes)).toEqual(result.routes);
  return (result.routes[0]?.fallback?.chain ?? []).map((link) => {
    return link.kind === 'respond' ? Buffer.from(link.content).toString('latin1') : link.kind;
  });
}

describe('a file that a fallback answers with', () => {
  it('is read when the route is loaded, byte for byte, from the folder of the route file', async () => {
    await writeFile(join(home, 'routes/pages/sorry.html'), Buffer.from('caf\xe9 \0\r\n', 'latin1'));
    expect(await load('{ stale: {} }, { respond: { file: pages/sorry.html } }, { respond: { body: plain } }')).toEqual([
      'stale',
      'caf\xe9 \0\r\n',
      'plain',
    ]);
  });

  it('may be elsewhere: above the folder, at an absolute path, behind a link or a variable, and empty', async () => {
    await writeFile(join(home, 'shared.txt'), 'shared');
    await writeFile(join(home, 'empty.txt'), '');
    await symlink(join(home, 'shared.txt'), join(home, 'routes/link.txt'));
    const files = ['../shared.txt', join(home, 'shared.txt'), 'link.txt', `\${PAGE}`, '../empty.txt'];
    const chain = files.map((file) => `{ respond: { file: "${file}" } }`).join(', ');
    expect(await load(chain, { PAGE: '../shared.txt' })).toEqual(['shared', 'shared', 'shared', 'shared', '']);
  });

  it('has room for 4 MiB and no more', async () => {
    await writeFile(join(home, 'routes/full'), Buffer.alloc(4 * MIB));
    await writeFile(join(home, 'routes/over'), Buffer.alloc(4 * MIB + 1));
    expect((await load('{ respond: { file: full } }'))[0]).toHaveLength(4 * MIB);
    expect(await load('{ respond: { file: over } }')).toEqual([
      'routes/a.yaml:3:30 fallback.chain[0].respond.file: the file is larger than 4194304 bytes',
    ]);
  });

  it('is a problem of its route when it is missing or no file, each at its place', async () => {
    expect(await load('{ respond: { file: gone } }, { respond: {} }, { respond: { file: pages } }')).toEqual([
      'routes/a.yaml:3:30 fallback.chain[0].respond.file: the file cannot be read (ENOENT)',
      'routes/a.yaml:3:76 fallback.chain[2].respond.file: the file cannot be read (EISDIR)',
    ]);
  });

  it('is a problem when a body is there as well', async () => {
    expect(await load('{ respond: { file: gone, body: x } }')).toEqual([
      'routes/a.yaml:3:30 fallback.chain[0].respond.file: both body and file, expected one of them',
    ]);
  });

  it('may be named by nobody', async () => {
    await writeFile(join(home, 'routes/a.yaml'), 'service: a');
    const result = await loadConfig({ gatewayFile: join(home, 'config/gateway.yaml'), environment: {} });
    expect(result).toMatchObject({ ok: true, routes: [{ fallback: null }] });
  });
});

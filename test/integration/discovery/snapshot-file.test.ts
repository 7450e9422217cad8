import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSnapshot, type SavedService, saveSnapshot } from '../../../gateway/discovery/snapshot-file.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-snapshot-'));
  path = join(folder, 'data', 'snapshot.json');
});
afterEach(() => rm(folder, { recursive: true }));

function saved(service: string, lastSuccessMs: number): SavedService {
  const endpoint = {
    key: '10.0.0.1:80',
    host: '10.0.0.1',
    port: 80,
    weight: 3,
    status: 'passing' as const,
    healthy: true,
  };
  return {
    service,
    source: 'consul',
    lastSuccessMs,
    endpoints: [{ ...endpoint, tags: ['a'], meta: { b: 'ç' }, instances: ['n/1'] }],
  };
}

const load = () => loadSnapshot(path, { maxAgeMs: 24 * HOUR, wallMs: NOW });

describe('the snapshot file', () => {
  it('gives back what was saved', async () => {
    const services = [saved('one', NOW - HOUR), saved('two', NOW)];
    await saveSnapshot(path, services);
    expect(await load()).toEqual({ kind: 'loaded', services, tooOld: [] });
  });

  it('leaves out services that are too old', async () => {
    await saveSnapshot(path, [saved('old', NOW - 25 * HOUR), saved('new', NOW)]);
    expect(await load()).toMatchObject({ services: [{ service: 'new' }], tooOld: ['old'] });
  });

  it('may be absent', async () => {
    expect(await load()).toEqual({ kind: 'absent' });
  });

  it('is replaced as a whole and leaves no other file behind', async () => {
    await Promise.all([saveSnapshot(path, [saved('a', NOW)]), saveSnapshot(join(folder, 'other'), [])]);
    await saveSnapshot(path, [saved('b', NOW)]);
    expect(await load()).toMatchObject({ services: [{ service: 'b' }] });
    expect(await readdir(join(folder, 'data'))).toEqual(['snapshot.json']);
  });

  it('is refused at every length that it may have been cut to, and with any change', async () => {
    await saveSnapshot(path, [saved('a', NOW)]);
    const text = await readFile(path, 'utf8');
    for (let length = 0; length < text.length; length += 7) {
      await writeFile(path, text.slice(0, length));
      expect((await load()).kind).toBe('refused');
    }
    await writeFile(path, text.replace('"weight":3', '"weight":4'));
    expect(await load()).toEqual({ kind: 'refused', why: 'its checksum is wrong' });
  });
});

// The log as a file that is moved away, for people, and in the format of web servers.
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 5000;

describe('the log', () => {
  let owned = new AsyncDisposableStack();
  afterEach(async () => {
    await owned.disposeAsync();
    owned = new AsyncDisposableStack();
  });

  async function start(log: object): Promise<WeirProcess> {
    const instances: SampleInstance[] = await startInstances('one');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    const endpoints = instances.map(({ port }) => `127.0.0.1:${port}`);
    const routes = { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } };
    return owned.adopt(await startWeir({ routes, gateway: { log } }), (gateway) => gateway.close());
  }

  const linesWith = async (file: string, text: string): Promise<string[]> => {
    return (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line.includes(text));
  };

  it('goes on in a new file after SIGUSR2 when somebody has moved the old one away, and loses nothing', async () => {
    const weir = await start({ file: 'logs/weir.log' });
    const file = join(weir.folder, 'logs/weir.log');
    const moved = `${file}.1`;
    for (let at = 0; at < 20; at++) await weir.get(`/before/${at}`);
    await waitFor(async () => (await linesWith(file, '"/before/')).length === 20, {
      limitMs: LIMIT_MS,
      what: 'the first lines',
    });
    await rename(file, moved);
    weir.signal('SIGUSR2');
    await waitFor(async () => (await linesWith(file, 'opened anew')).length === 1, {
      limitMs: LIMIT_MS,
      what: 'the new file',
    });
    for (let at = 0; at < 20; at++) await weir.get(`/after/${at}`);
    await waitFor(async () => (await linesWith(file, '"/after/')).length === 20, {
      limitMs: LIMIT_MS,
      what: 'the next lines',
    });
    expect(await linesWith(moved, '"/after/')).toEqual([]);
    for (const line of await linesWith(file, '{')) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('is written for people, with requests in the combined format', async () => {
    const weir = await start({ file: 'weir.log', format: 'pretty', accessFormat: 'combined' });
    const file = join(weir.folder, 'weir.log');
    await weir.get('/orders?card=4711', { headers: { 'user-agent': 'a" 200' } });
    const [line] = await waitFor(
      async () => {
        const found = await linesWith(file, '/orders');
        return found.length > 0 && found;
      },
      { limitMs: LIMIT_MS, what: 'the request' },
    );
    expect(line).toMatch(/^127\.0\.0\.1 - - \[[^\]]+\] "GET \/orders HTTP\/1\.1" 200 \d+ "-" "a\\x22 200"$/);
    const [ready] = await linesWith(file, 'ready');
    expect(ready).toMatch(/^\[\d\d:\d\d:\d\d\.\d+\] INFO: ready$/);
  });
});

// A store whose outages are told: once when they begin and once when they end, however many calls fail.
import { expect, it } from 'vitest';
import { reportOutages } from '../../../gateway/registration/outage-log.ts';
import { openSqliteStore } from '../../../gateway/registration/sqlite-store.ts';
import type { RegistryStore } from '../../../gateway/registration/store.ts';

it('tells when the database begins to fail and when it works again', async () => {
  const lines: unknown[] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  let isDown = false;
  const real = openSqliteStore({ path: ':memory:', expirySeconds: 30, limits: { perService: 1, total: 1 } });
  const flaky: RegistryStore = {
    ...real,
    list: (service) => (isDown ? Promise.reject(new Error('the disk is full')) : real.list(service)),
  };
  const store = reportOutages(flaky, log);
  expect(await store.list('web')).toEqual([]);
  isDown = true;
  for (let at = 0; at < 3; at++) await expect(store.list('web')).rejects.toThrow('the disk is full');
  isDown = false;
  expect(await store.list('web')).toEqual([]);
  expect(await store.list('web')).toEqual([]);
  await store.close();
  expect(lines).toEqual([
    ['error', { why: 'the disk is full' }, 'registry: the database fails'],
    ['info', { failures: 3 }, 'registry: the database works again'],
  ]);
});

// The contract of the registry's memory, kept by SQLite and by a real MariaDB alike.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RegistryStore } from '../../gateway/registration/store.ts';
import { hasMariadb, type RealMariadb, startMariadb } from '../support/real-mariadb.ts';
import { createMariadbDatabase, createSqliteDatabase, type RegistryDatabase } from '../support/registry-databases.ts';

const options = { expirySeconds: 30, limits: { perService: 200, total: 300 } };
const web1 = { service: 'web', instance: 'web-1', addr: '10.0.0.5', port: 8080, meta: { env: 'prod', weight: 4 } };
const { service: _, ...listed } = web1;
const key = { service: 'web', instance: 'web-1' };
/** Seconds since a heartbeat that leave time for a slow machine. */
const ALMOST_EXPIRED = 25;
const WHOLE = { afterId: 0, limit: 1000 };

describe.each([
  { name: 'SQLite', needsServer: false, isThere: true },
  { name: 'MariaDB', needsServer: true, isThere: hasMariadb() },
])('a store in $name', ({ needsServer, isThere }) => {
  describe.skipIf(!isThere)('keeps the contract:', () => {
    let server: RealMariadb | undefined;
    let database: RegistryDatabase;
    let store: RegistryStore;
    const others: RegistryStore[] = [];
    beforeAll(async () => {
      if (needsServer) server = await startMariadb();
    });
    afterAll(async () => {
      await server?.close();
    });
    beforeEach(async () => {
      database = await (server === undefined ? createSqliteDatabase(options) : createMariadbDatabase(server, options));
      store = database.open();
    });
    afterEach(async () => {
      vi.useRealTimers();
      await Promise.all([store, ...others.splice(0)].map((each) => each.close()));
      await database.close();
    });

    const age = (seconds: number) =>
      database.sql(`UPDATE service_registry SET heartbeat = ${database.earlier('heartbeat', seconds)}`);
    const another = () => {
      const other = database.open();
      others.push(other);
      return other;
    };
    const registered = async () => {
      const [row] = await database.sql('SELECT registered FROM service_registry');
      return row?.registered;
    };
    const reasons = async () => (await store.history(WHOLE)).map(({ instance, why }) => [instance, why]);

    it('registers, changes and lists by service, sorted by ID', async () => {
      expect(await store.list('web')).toEqual([]);
      expect(await store.register({ ...web1, instance: 'web-2' })).toBe('registered');
      expect(await store.register(web1)).toBe('registered');
      expect(await store.register({ ...web1, service: 'api' })).toBe('registered');
      expect(await store.list('web')).toEqual([listed, { ...listed, instance: 'web-2' }]);
      expect(await store.register(web1)).toBe('heartbeat');
      expect(await store.register({ ...web1, port: 9090 })).toBe('changed');
      expect(await store.register({ ...web1, port: 9090, meta: {} })).toBe('changed');
      expect(await store.register({ ...web1, port: 9090, meta: {} })).toBe('heartbeat');
      expect((await store.list('web'))[0]).toEqual({ ...listed, port: 9090, meta: {} });
    });

    it('keeps every character of names and meta, and names apart that only look alike', async () => {
      const strange = {
        service: 'überweisung-💶',
        instance: "'; DROP TABLE service_registry; -- \\",
        addr: 'fd00::5',
        port: 65535,
        meta: { 'schlüssel "x"': '\'\\"', flag: false, n: 1.5e300, tags: ['a', '', '💡'], broken: '\ud800' },
      };
      await store.register(strange);
      const { service, ...rest } = strange;
      expect(await store.list(service)).toEqual([rest]);
      expect(await store.list('überweisung-💷')).toEqual([]);
      for (const instance of ['a', 'A', 'ä', 'á', 'ß', 'ss', 'a b', 'a  b'])
        await store.register({ ...web1, instance });
      expect((await store.list('web')).map(({ instance }) => instance)).toEqual([
        'A',
        'a',
        'a  b',
        'a b',
        'ss',
        'ß',
        'á',
        'ä',
      ]);
    });

    it('keeps the longest names and the largest meta', async () => {
      const name = '💡'.repeat(127);
      const meta = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}`, '💡'.repeat(240)]));
      const large = { service: name, instance: `${name}x`, addr: 'a'.repeat(63), port: 1, meta };
      expect(await store.register(large)).toBe('registered');
      expect(await store.register(large)).toBe('heartbeat');
      expect((await store.list(name))[0]).toMatchObject({ instance: `${name}x`, meta });
    });

    it('never changes the time of the registration while the instance lives', async () => {
      await store.register(web1);
      await database.sql(`UPDATE service_registry SET registered = ${database.earlier('registered', 3600)}`);
      const before = await registered();
      await age(ALMOST_EXPIRED);
      expect(await store.register(web1)).toBe('heartbeat');
      await age(ALMOST_EXPIRED);
      expect(await store.register({ ...web1, port: 9090 })).toBe('changed');
      expect(await registered()).toEqual(before);
    });

    it('lists an instance until 30 s after its last heartbeat, and no longer', async () => {
      await store.register(web1);
      await age(ALMOST_EXPIRED);
      expect(await store.list('web')).toHaveLength(1);
      await age(30 - ALMOST_EXPIRED);
      expect(await store.list('web')).toEqual([]);
    });

    it('takes who comes back after its expiry for newly registered, and remembers the first life', async () => {
      await store.register(web1);
      await database.sql(`UPDATE service_registry SET registered = ${database.earlier('registered', 3600)}`);
      await age(31);
      const before = await registered();
      expect(await store.register(web1)).toBe('registered');
      expect(await store.list('web')).toHaveLength(1);
      expect(await registered()).not.toEqual(before);
      expect(await reasons()).toEqual([['web-1', 'expired']]);
      expect(await store.cleanUp()).toBe(0);
    });

    it('moves who leaves to the history, with the times of its life', async () => {
      await store.register(web1);
      await age(10);
      expect(await store.deregister(key)).toBe(true);
      expect(await store.deregister(key)).toBe(false);
      expect(await store.list('web')).toEqual([]);
      const [entry, ...more] = await store.history(WHOLE);
      expect(more).toEqual([]);
      expect(entry).toMatchObject({ ...web1, why: 'deregistered' });
      const { registeredMs = 0, lastSeenMs = 0, goneMs = 0 } = entry ?? {};
      expect(Math.abs(goneMs - Date.now())).toBeLessThan(10_000);
      expect(goneMs - registeredMs).toBeLessThan(10_000);
      expect(goneMs - lastSeenMs).toBeGreaterThanOrEqual(10_000);
      expect(goneMs - lastSeenMs).toBeLessThan(20_000);
    });

    it('does not say of an instance that expired that it left', async () => {
      await store.register(web1);
      await age(31);
      expect(await store.deregister(key)).toBe(false);
      expect(await reasons()).toEqual([['web-1', 'expired']]);
    });

    it('cleans up what expired, and nothing else', async () => {
      // A few at a time: each has 4 s, in which it may have to wait for those before it.
      for (let at = 0; at < 150; at += 10) {
        const names = Array.from({ length: 10 }, (_, offset) => at + offset);
        await Promise.all(
          names.map((name) => store.register({ ...web1, service: `s${name % 3}`, instance: `${name}` })),
        );
      }
      await age(31);
      await store.register(web1);
      expect(await store.cleanUp()).toBe(150);
      expect(await store.cleanUp()).toBe(0);
      const entries = await store.history(WHOLE);
      expect(new Set(entries.map(({ instance }) => instance)).size).toBe(150);
      expect(new Set(entries.map(({ why }) => why))).toEqual(new Set(['expired']));
      expect(await store.list('web')).toEqual([listed]);
    });

    it('moves each instance once, whoever cleans up and whatever heartbeats come meanwhile', async () => {
      const other = another();
      const names = Array.from({ length: 60 }, (_, at) => `${at}`);
      for (const instance of names) await store.register({ ...web1, instance });
      await age(31);
      const [one, two, ...outcomes] = await Promise.all([
        store.cleanUp(),
        other.cleanUp(),
        ...names.slice(0, 30).map((instance) => other.register({ ...web1, instance })),
      ]);
      expect(new Set(outcomes)).toEqual(new Set(['registered']));
      const buried = (await reasons()).map(([instance]) => instance);
      expect(buried.toSorted()).toEqual(names.toSorted());
      expect(one + two).toBeLessThanOrEqual(60);
      expect(await store.list('web')).toHaveLength(30);
    });

    it('gives the history in pages, by service and by time, oldest first', async () => {
      for (const instance of ['1', '2', '3']) {
        for (const service of ['web', 'api']) {
          await store.register({ ...web1, service, instance });
          await store.deregister({ service, instance });
        }
      }
      const first = await store.history({ service: 'web', afterId: 0, limit: 2 });
      expect(first.map(({ service, instance }) => [service, instance])).toEqual([
        ['web', '1'],
        ['web', '2'],
      ]);
      const second = await store.history({ service: 'web', afterId: first.at(-1)?.id ?? 0, limit: 2 });
      expect(second.map(({ instance }) => instance)).toEqual(['3']);
      await database.sql(
        `UPDATE service_registry_history SET gone = ${database.earlier('gone', 3600)} WHERE instance = '1'`,
      );
      expect(await store.history({ ...WHOLE, since: { kind: 'ago', durationMs: 3_599_000 } })).toHaveLength(4);
      expect(await store.history({ ...WHOLE, since: { kind: 'ago', durationMs: 3_700_000 } })).toHaveLength(6);
      const [oldest] = await store.history(WHOLE);
      const wallMs = oldest?.goneMs ?? 0;
      expect(await store.history({ ...WHOLE, since: { kind: 'time', wallMs } })).toHaveLength(6);
      expect(
        await store.history({ ...WHOLE, service: 'web', since: { kind: 'time', wallMs: wallMs + 60_000 } }),
      ).toHaveLength(2);
    });

    it('forgets history after thirty days', async () => {
      await store.register(web1);
      await store.deregister(key);
      await store.cleanUp();
      expect(await reasons()).toHaveLength(1);
      const month = 31 * 86_400;
      await database.sql(`UPDATE service_registry_history SET gone = ${database.earlier('gone', month)}`);
      await store.cleanUp();
      expect(await reasons()).toEqual([]);
    });

    it('keeps no more than a hundred thousand entries of history', async () => {
      for (const instance of ['1', '2', '3']) {
        await store.register({ ...web1, instance });
        await store.deregister({ service: 'web', instance });
      }
      const { id = 0 } = (await store.history(WHOLE)).at(-1) ?? {};
      await database.sql(`INSERT INTO service_registry_history (id, service, instance, addr, port, meta, heartbeat, registered, why)
        SELECT ${id + 99_999}, service, 'newest', addr, port, meta, heartbeat, registered, why
        FROM service_registry_history WHERE instance = '3'`);
      await store.cleanUp();
      expect((await reasons()).map(([instance]) => instance)).toEqual(['3', 'newest']);
    });

    it('refuses more instances than it may have, and takes heartbeats of those that are there', async () => {
      const names = (count: number) => Array.from({ length: count }, (_, at) => `${at}`);
      for (const instance of names(200)) await store.register({ ...web1, instance });
      expect(await store.register({ ...web1, instance: 'one too many' })).toBe('service_full');
      expect(await store.register({ ...web1, instance: '7' })).toBe('heartbeat');
      expect(await store.register({ ...web1, instance: '7', port: 1 })).toBe('changed');
      for (const instance of names(100)) await store.register({ ...web1, service: 'api', instance });
      expect(await store.register({ ...web1, service: 'third' })).toBe('registry_full');
      await age(31);
      expect(await store.register({ ...web1, instance: '7' })).toBe('registered');
      expect(await store.cleanUp()).toBe(299);
      expect(await store.register({ ...web1, service: 'third' })).toBe('registered');
    });

    it('agrees with another store on the same tables', async () => {
      const other = another();
      await store.register(web1);
      expect(await other.register(web1)).toBe('heartbeat');
      expect(await other.register({ ...web1, port: 9090 })).toBe('changed');
      expect(await store.list('web')).toEqual([{ ...listed, port: 9090 }]);
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          (at % 2 === 0 ? store : other).register({ ...web1, instance: `${at % 5}` }),
        ),
      );
      const wins = outcomes.filter((outcome) => outcome === 'registered');
      expect(wins.length).toBeGreaterThanOrEqual(5);
      expect(await other.list('web')).toHaveLength(6);
      expect(await other.deregister(key)).toBe(true);
      expect(await store.deregister(key)).toBe(false);
      expect(await reasons()).toEqual([['web-1', 'deregistered']]);
    });

    it('goes by the clock of the database alone: that of this process may be wrong by an hour', async () => {
      for (const wrongByMs of [3_600_000, -3_600_000]) {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + wrongByMs });
        const instance = `${wrongByMs}`;
        await store.register({ ...web1, instance });
        vi.useRealTimers();
        expect((await store.list('web')).map((each) => each.instance)).toContain(instance);
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + wrongByMs });
        expect(await store.register({ ...web1, instance })).toBe('heartbeat');
        expect(await store.cleanUp()).toBe(0);
        vi.useRealTimers();
      }
    });

    it('takes what somebody wrote into the table by hand, with times of the database by itself', async () => {
      await store.list('web');
      await database.sql(
        "INSERT INTO service_registry (service, instance, addr, port, meta) VALUES ('web', 'hand', 'h', 1, '[oops')",
      );
      expect(await store.list('web')).toEqual([{ instance: 'hand', addr: 'h', port: 1, meta: {} }]);
    });
  });
});

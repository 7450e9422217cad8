// The table registry over a real MariaDB: outages, clocks, rights, locks, and several registries on one database.
import { createConnection } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MysqlLocation } from '../../gateway/config/store-url.ts';
import { openMysqlStore } from '../../gateway/registration/mysql-store.ts';
import { type RunningRegistry, startRegistry } from '../../gateway/registration/registry-server.ts';
import type { RegistryStore } from '../../gateway/registration/store.ts';
import { hasMariadb, type RealMariadb, startMariadb } from '../support/real-mariadb.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';

const web1 = { service: 'web', instance: 'web-1', addr: '10.0.0.5', port: 8080, meta: { env: 'prod' } };
const LIMITS = { perService: 1000, total: 1000 };

describe.skipIf(!hasMariadb())('a registry over MariaDB', () => {
  let mariadb: RealMariadb;
  const owned = new Set<{ stop(): Promise<void> }>();
  const logged: string[] = [];
  beforeAll(async () => {
    mariadb = await startMariadb();
  });
  afterAll(() => mariadb.close());
  beforeEach(async () => {
    await mariadb.sql('DROP TABLE IF EXISTS service_registry, service_registry_history');
  });
  afterEach(async () => {
    mariadb.thaw();
    await Promise.all([...owned].map((each) => each.stop()));
    owned.clear();
    logged.length = 0;
  });

  async function start(location: MysqlLocation = mariadb.location): Promise<RunningRegistry> {
    const write = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
    const log = { debug: write, info: write, warn: write, error: write };
    const registry = await startRegistry({ host: '127.0.0.1', port: 0, store: location, log });
    owned.add(registry);
    return registry;
  }
  function openStore(): RegistryStore {
    const store = openMysqlStore({ location: mariadb.location, expirySeconds: 30, limits: LIMITS });
    owned.add({ stop: () => store.close() });
    return store;
  }
  const register = async ({ url }: RunningRegistry, record: object = web1) => {
    return send(`${url}/register`, { method: 'POST', body: JSON.stringify(record) });
  };
  const list = async ({ url }: RunningRegistry) => {
    const { status, body } = await send(`${url}/instances?service=web`);
    return { status, document: JSON.parse(body) };
  };
  const lists = (registry: RunningRegistry, count: number) =>
    waitFor(async () => (await list(registry)).document.count === count, {
      limitMs: 10_000,
      what: `${count} instances`,
    });

  it('answers 503 while the database is dead, and goes on by itself when it is back', async () => {
    const registry = await start();
    expect((await register(registry)).status).toBe(200);
    await mariadb.kill();
    try {
      const refused = await register(registry);
      expect(refused.status).toBe(503);
      expect(JSON.parse(refused.body)).toEqual({ error: 'the registry cannot use its database at present' });
      expect((await list(registry)).status).toBe(503);
      expect((await send(`${registry.url}/history`)).status).toBe(503);
    } finally {
      await mariadb.restart();
    }
    await mariadb.sql('UPDATE service_registry SET heartbeat = heartbeat - INTERVAL 60 SECOND');
    await lists(registry, 0);
    expect((await register(registry)).status).toBe(200);
    expect((await list(registry)).document).toMatchObject({ count: 1, instances: [{ instance: 'web-1' }] });
    expect(logged.filter((line) => line.includes('the database fails'))).toHaveLength(1);
    expect(logged.filter((line) => line.includes('the database works again'))).toHaveLength(1);
  });

  it('answers 503 while the database hangs, however many ask, and goes on when it moves', async () => {
    const registry = await start();
    await register(registry);
    await mariadb.freeze();
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => (await register(registry, { ...web1, instance: `${at}` })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([503]));
    mariadb.thaw();
    await waitFor(async () => (await register(registry)).status === 200, { limitMs: 20_000, what: 'a heartbeat' });
  });

  it('stops although the database hangs', async () => {
    const registry = await start();
    await register(registry);
    await mariadb.freeze();
    const pending = register(registry, { ...web1, instance: 'pending' }).catch(() => 'cut');
    // What is refused at once tells that the question before it has arrived.
    expect((await send(`${registry.url}/instances`)).status).toBe(400);
    await registry.stop();
    expect(await pending).toBe('cut');
  });

  it('closes although work that the hanging database never answers is given up meanwhile', async () => {
    const store = openStore();
    await Promise.all([store.list('web'), store.list('web')]);
    await mariadb.freeze();
    const [first, second] = [store.list('web'), store.list('web')].map((work) => work.catch(String));
    // Both are given up in the same moment, one after the other: the store begins to close in between.
    expect(await first).toMatch(/does not answer in time/);
    await store.close();
    expect(await second).toMatch(/does not answer in time/);
  });

  it('may start before its database', async () => {
    await mariadb.kill();
    let registry: RunningRegistry;
    try {
      registry = await start();
      expect((await list(registry)).status).toBe(503);
    } finally {
      await mariadb.restart();
    }
    await waitFor(async () => (await register(registry)).status === 200, { limitMs: 20_000, what: 'a registration' });
    await lists(registry, 1);
  });

  it('creates its tables again when somebody has dropped them', async () => {
    // Without the clean-up of a registry, which may come first and then creates them unseen.
    const store = openStore();
    await store.register(web1);
    await mariadb.sql('DROP TABLE service_registry');
    await expect(store.register(web1)).rejects.toThrow(/ER_NO_SUCH_TABLE/);
    expect(await store.register(web1)).toBe('registered');
    expect(await store.list('web')).toHaveLength(1);
  });

  it('needs no right to create tables that are there', async () => {
    await openStore().list('web');
    const { database } = mariadb.location;
    await mariadb.sql("CREATE OR REPLACE USER 'modest'@'127.0.0.1' IDENTIFIED BY 'm'");
    await mariadb.sql(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${database}.* TO 'modest'@'127.0.0.1'`);
    const registry = await start({ ...mariadb.location, user: 'modest', password: 'm' });
    expect((await register(registry)).status).toBe(200);
  });

  it('names neither user nor password when it is refused', async () => {
    const registry = await start({ ...mariadb.location, user: 'someuser', password: 'hunter2' });
    const { status, body } = await register(registry);
    expect(status).toBe(503);
    const line = await waitFor(() => logged.find((each) => each.includes('the database fails')), {
      limitMs: 5000,
      what: 'a line of the log',
    });
    expect(line).toMatch(/Access denied/);
    expect(`${body}${logged.join()}`).not.toMatch(/someuser|hunter2/);
  });

  it('does not care for the time zone of the server, nor for a change of it', async () => {
    const registry = await start();
    try {
      for (const zone of ['+05:00', '-08:00', '+00:00']) {
        await mariadb.sql(`SET GLOBAL time_zone = '${zone}'`);
        // New sessions take the new zone.
        await mariadb.sql('KILL USER weir');
        const document = async () => JSON.parse((await register(registry)).body);
        const { outcome } = await document();
        expect(outcome).toBe(zone === '+05:00' ? 'registered' : 'heartbeat');
        expect((await list(registry)).document).toMatchObject({ count: 1 });
      }
      await send(`${registry.url}/register?service=web&instance=web-1`, { method: 'DELETE' });
      const { entries } = JSON.parse((await send(`${registry.url}/history?since=1m`)).body);
      expect(entries).toHaveLength(1);
      for (const time of [entries[0].registered, entries[0].lastSeen, entries[0].gone]) {
        expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
      }
    } finally {
      await mariadb.sql('SET GLOBAL time_zone = SYSTEM');
    }
  });

  it('agrees with another registry on the same database', async () => {
    const [one, two] = [await start(), await start()];
    for (let at = 0; at < 20; at++) await register(at % 2 === 0 ? one : two, { ...web1, instance: `${at}` });
    await lists(one, 20);
    await lists(two, 20);
    expect((await list(one)).document).toEqual((await list(two)).document);
    const beats = Array.from({ length: 40 }, (_, at) => register(at % 2 === 0 ? two : one, { ...web1, instance: '0' }));
    for (const beat of await Promise.all(beats)) expect(JSON.parse(beat.body).outcome).toBe('heartbeat');
    await register(one, { ...web1, instance: '0', port: 9090 });
    await send(`${two.url}/register?service=web&instance=19`, { method: 'DELETE' });
    await lists(one, 19);
    await waitFor(async () => (await list(two)).document.instances[0].port === 9090, {
      limitMs: 10_000,
      what: 'the new port',
    });
    const rows = await mariadb.sql('SELECT instance, why FROM service_registry_history');
    expect(rows).toEqual([{ instance: '19', why: 'deregistered' }]);
  });

  it('does its work once more when it was the victim of a deadlock', async () => {
    const store = openStore();
    for (const instance of ['a', 'b']) await store.register({ ...web1, instance });
    for (let at = 0; at < 50; at++) await store.register({ ...web1, service: 'ballast', instance: `${at}` });
    const { host, port, user, password, database } = mariadb.location;
    const rival = await createConnection({ host, port, user, password, database });
    try {
      // The transaction that has changed more is spared.
      await rival.beginTransaction();
      await rival.query("UPDATE service_registry SET port = 1 WHERE service = 'ballast'");
      await mariadb.sql("UPDATE service_registry SET heartbeat = heartbeat - INTERVAL 60 SECOND WHERE service = 'web'");
      await rival.query("SELECT * FROM service_registry WHERE service = 'web' AND instance = 'b' FOR UPDATE");
      const cleaning = store.cleanUp();
      await waitFor(
        async () => {
          const [row] = await mariadb.sql("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
          return Number(row?.Value) > 0;
        },
        { limitMs: 10_000, what: 'the clean-up that waits for a lock' },
      );
      await rival.query("SELECT * FROM service_registry WHERE service = 'web' AND instance = 'a' FOR UPDATE");
      await rival.commit();
      expect(await cleaning).toBe(2);
      const rows = await mariadb.sql("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'");
      expect(Number(rows[0]?.Value)).toBeGreaterThan(0);
    } finally {
      await rival.end();
    }
  });

  it('gives up on a row that somebody holds, and takes it when it is free', async () => {
    const registry = await start();
    await register(registry);
    const { host, port, user, password, database } = mariadb.location;
    const holder = await createConnection({ host, port, user, password, database });
    try {
      await holder.beginTransaction();
      await holder.query('SELECT * FROM service_registry FOR UPDATE');
      expect((await register(registry)).status).toBe(503);
      expect((await list(registry)).document).toMatchObject({ count: 1 });
      await holder.rollback();
      expect(JSON.parse((await register(registry)).body)).toMatchObject({ outcome: 'heartbeat' });
    } finally {
      await holder.end();
    }
  });
});

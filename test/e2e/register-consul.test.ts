// `weir register` with a real agent of Consul.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freezeProcess } from '../support/freeze-process.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { type RegisteredProcess, startRegistered } from '../support/registered-process.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 20_000;
const ID = 'web-of-a-test';

describe.skipIf(!hasConsul())('weir register with Consul', () => {
  let consul: RealConsul;
  let owned: AsyncDisposableStack;
  beforeAll(async () => {
    consul = await startConsul();
  }, 30_000);
  beforeEach(() => {
    owned = new AsyncDisposableStack();
  });
  afterEach(async () => {
    await owned.disposeAsync();
    await consul.deregister(ID).catch(() => undefined);
  });
  afterAll(() => consul.stop());

  async function wrap(...options: string[]): Promise<RegisteredProcess> {
    const all = ['--registry', `consul+${consul.url}`, '--id', ID, ...options];
    const lookup = `${consul.url}/v1/health/service/web`;
    return owned.adopt(await startRegistered({ lookup, options: all }), (wrapped) => wrapped.close());
  }

  async function entries() {
    return JSON.parse(await consul.call('GET', '/v1/health/service/web'));
  }

  /** The check of the only instance; waits until it has the status. */
  async function checkWith(status: 'passing' | 'critical'): Promise<Readonly<Record<string, unknown>>> {
    const is = async () => {
      const [entry] = await entries().catch(() => []);
      const check = entry?.Checks.find(({ ServiceID }: Record<string, unknown>) => ServiceID === ID);
      return check?.Status === status && check;
    };
    return waitFor(is, { limitMs: LIMIT_MS, what: `an instance that is ${status}` });
  }

  /** Waits until the agent has this of the check; the catalog learns it later when the status stays. */
  async function output(text: string): Promise<void> {
    const is = async () =>
      JSON.parse(await consul.call('GET', '/v1/agent/checks'))[`service:${ID}`].Output.includes(text);
    await waitFor(is, { limitMs: LIMIT_MS, what: text });
  }

  it('registers weight, tags and meta, with a TTL that its heartbeats keep', async () => {
    const web = await wrap('--weight', '4', '--tag', 'v2', '--meta', 'zone=a', '--ttl', '3s');
    const check = await checkWith('passing');
    expect(check).toMatchObject({ CheckID: `service:${ID}`, ServiceName: 'web', ServiceTags: ['v2'] });
    expect(await entries()).toMatchObject([
      {
        Service: {
          ID,
          Service: 'web',
          Address: '127.0.0.1',
          Port: web.port,
          Tags: ['v2'],
          Meta: { zone: 'a' },
          Weights: { Passing: 4, Warning: 1 },
        },
      },
    ]);
    await output('the port answers');
  });

  it('says by weight 0 that an instance takes no traffic, which Consul itself has no word for', async () => {
    await wrap('--weight', '0');
    await checkWith('passing');
    expect(await entries()).toMatchObject([{ Service: { Meta: { weight: '0' }, Weights: { Passing: 1 } } }]);
  });

  it('tells Consul while the port does not answer', async () => {
    const web = await wrap('--ttl', '3s');
    await checkWith('passing');
    web.command.signal('SIGUSR2');
    await checkWith('critical');
    await output(`ECONNREFUSED 127.0.0.1:${web.port}`);
    web.command.signal('SIGUSR2');
    await checkWith('passing');
  });

  it('lets Consul ask for a path, and passes from the beginning if it answers', async () => {
    const web = await wrap('--http', '/health', '--interval', '1s', '--deregister-after', '30s');
    await web.told('--deregister-after is shorter than Consul allows: it will wait for a minute');
    expect(await checkWith('passing')).toMatchObject({ Type: 'http' });
    await output(`HTTP GET http://127.0.0.1:${web.port}/health: 200 OK`);
    await web.get('/sick');
    await checkWith('critical');
    await output('503');
    await web.get('/well');
    await checkWith('passing');
  });

  it.each([
    ['--ttl', '3s'],
    ['--http', '/health', '--interval', '1s'],
  ])('registers again when somebody else took it out, with %s %s', async (...options) => {
    const web = await wrap(...options);
    await checkWith('passing');
    await consul.deregister(ID);
    await web.told('again');
    await checkWith('passing');
  });

  it.each([
    ['--ttl', '3s'],
    ['--http', '/health', '--interval', '1s'],
  ])('registers again with an agent that was restarted and forgot everything, with %s %s', async (...options) => {
    const web = await wrap(...options);
    await checkWith('passing');
    const pid = await web.get('/');
    await consul.kill();
    await web.told('ECONNREFUSED');
    await consul.restart();
    await checkWith('passing');
    expect(await web.get('/')).toBe(pid);
  });

  it('leaves Consul before the command gets SIGTERM', async () => {
    const web = await wrap('--drain', '300ms');
    await checkWith('passing');
    const signalledMs = performance.now();
    web.command.signal('SIGTERM');
    expect(await web.said('SIGTERM')).toBe('0');
    expect(performance.now() - signalledMs).toBeGreaterThanOrEqual(300);
    expect(await web.ended()).toEqual({ code: 7, signal: null });
  });

  it('leaves Consul at once when the command dies', async () => {
    const web = await wrap('--drain', '1h');
    await checkWith('passing');
    await web.get('/crash').catch(() => undefined);
    expect(await web.ended()).toEqual({ code: 3, signal: null });
    expect(await entries()).toEqual([]);
  });

  it('passes the signal on although the agent does not answer', async () => {
    const web = await wrap('--drain', '0s');
    await checkWith('passing');
    await freezeProcess(consul.pid);
    try {
      web.command.signal('SIGTERM');
      await web.told('SIGTERM: still registered, the command gets it in 0s');
      process.kill(Number(await web.said('pid')), 'SIGKILL');
      expect(await web.ended()).toEqual({ code: 137, signal: null });
      expect(web.command.stderr).toContain('did not deregister: no answer in time');
    } finally {
      consul.thaw();
    }
  });
});

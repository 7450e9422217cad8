// A service of a drill whose instances run under `weir register`: who is up, and what gateway and registry make of them.
import { setTimeout as delay } from 'node:timers/promises';
import type { DrillRegistry } from './drill-registry.ts';
import type { DrillGateway, DrillPool } from './gateway.ts';
import { WrappedInstance, type WrappedOptions } from './wrapped-instance.ts';

export interface WrappedServiceOptions extends Omit<WrappedOptions, 'port'> {
  readonly gateway: DrillGateway;
  readonly registry: DrillRegistry;
  /** Gives a port that nobody has. */
  readonly nextPort: () => number;
}

const POLL_MS = 25;

export class WrappedService {
  readonly #options: WrappedServiceOptions;
  readonly #instances = new Set<WrappedInstance>();
  readonly #everStarted: WrappedInstance[] = [];

  constructor(options: WrappedServiceOptions) {
    this.#options = options;
  }

  /** Those that were started and neither stopped nor killed, the oldest first. */
  get instances(): readonly WrappedInstance[] {
    return [...this.#instances];
  }

  /** What its instances said, the dead ones too, of calls that failed. */
  get complaints(): readonly string[] {
    return this.#everStarted.flatMap(({ complaints }) => complaints);
  }

  /** Starts one more and waits until the gateway sends it requests; `port` is that of one that is gone, or a new one. */
  async add(port = this.#options.nextPort()): Promise<WrappedInstance> {
    const { gateway: _, registry: __, nextPort: ___, ...rest } = this.#options;
    const instance = await WrappedInstance.start({ ...rest, port });
    this.#instances.add(instance);
    this.#everStarted.push(instance);
    await until(`${instance.endpoint} in routing`, async () => this.#isActive(await this.#states(), instance.endpoint));
    return instance;
  }

  /** Asks the wrapper to end and gives the milliseconds until the gateway does not send it requests any more. */
  async stop(instance: WrappedInstance): Promise<number> {
    this.#instances.delete(instance);
    const [goneMs, code] = await Promise.all([this.untilUnrouted(instance.endpoint), instance.stop()]);
    if (code !== 0) throw new Error(`the wrapper of ${instance.endpoint} ended with ${code}`);
    return goneMs;
  }

  async killService(instance: WrappedInstance): Promise<void> {
    this.#instances.delete(instance);
    await instance.killService();
  }

  async killBoth(instance: WrappedInstance): Promise<void> {
    this.#instances.delete(instance);
    await instance.killBoth();
  }

  /** Milliseconds until the gateway sends no requests to the endpoint, be it ejected or gone. */
  untilUnrouted(endpoint: string): Promise<number> {
    return until(`${endpoint} out of routing`, async () => !this.#isActive(await this.#states(), endpoint));
  }

  /** Milliseconds until the registry does not list the endpoint as well. */
  untilUnlisted(endpoint: string): Promise<number> {
    return until(`${endpoint} out of the registry`, async () => !(await this.#listed()).includes(endpoint));
  }

  /** Milliseconds until registry and gateway have all instances. */
  untilComplete(): Promise<number> {
    const { name } = this.#options;
    return until(`all instances of ${name}`, async () => {
      const [listed, states] = [await this.#listed(), await this.#states()];
      return this.instances.every(({ endpoint }) => listed.includes(endpoint) && this.#isActive(states, endpoint));
    });
  }

  /** What the gateway makes of it. */
  pool(): Promise<DrillPool> {
    return this.#options.gateway.pool(this.#options.name);
  }

  async end(): Promise<void> {
    await Promise.all(this.instances.map((instance) => this.killBoth(instance)));
  }

  #states(): Promise<ReadonlyMap<string, string>> {
    return this.#options.gateway.states(this.#options.name);
  }

  #isActive(states: ReadonlyMap<string, string>, endpoint: string): boolean {
    return states.get(endpoint) === 'active';
  }

  /** A registry that does not answer tells of no change. */
  async #listed(): Promise<readonly string[]> {
    const { registry, name } = this.#options;
    for (;;) {
      const listed = await registry.endpoints(name).catch(() => undefined);
      if (listed !== undefined) return listed;
      await delay(POLL_MS);
    }
  }
}

const LIMIT_MS = 60_000;

async function until(what: string, isSo: () => Promise<boolean>): Promise<number> {
  const begunMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begunMs > LIMIT_MS) throw new Error(`waited ${LIMIT_MS} ms in vain for ${what}`);
    await delay(POLL_MS);
  }
  return Math.round(performance.now() - begunMs);
}

// The Consul of a benchmark: the real one where it is installed, else a scripted one that does as little as possible.
import { consulEntry } from '../../test/support/consul-entry.ts';
import { hasConsul, startConsul } from '../../test/support/real-consul.ts';
import { startScriptedConsul } from '../../test/support/scripted-consul.ts';

export interface Cluster {
  readonly name: string;
  readonly url: string;
  /** Makes the instances of a service those on these ports of 10.0.0.1. */
  set(service: string, ports: readonly number[]): Promise<void>;
  stop(): Promise<void>;
}

export function startCluster(): Promise<Cluster> {
  return hasConsul() ? startReal() : startScripted();
}

async function startReal(): Promise<Cluster> {
  const consul = await startConsul();
  const version = JSON.parse(await consul.call('GET', '/v1/agent/self')).Config.Version;
  const known = new Map<string, ReadonlySet<number>>();
  const id = (service: string, port: number): string => `${service}-${port}`;
  return {
    name: `a real Consul ${version} (agent -dev on this machine)`,
    url: consul.url,
    async set(service, ports) {
      const before = known.get(service) ?? new Set();
      for (const port of ports) {
        if (before.has(port)) continue;
        const instance = { ID: id(service, port), Service: service, Address: '10.0.0.1', Port: port, Tags: ['v1'] };
        const check = {
          CheckID: `check-${id(service, port)}`,
          Name: 'http',
          ServiceID: instance.ID,
          Status: 'passing',
        };
        const node = { Node: 'bench', Address: '10.0.0.1' };
        await consul.call('PUT', '/v1/catalog/register', { ...node, Service: instance, Check: check });
      }
      for (const port of before) {
        if (ports.includes(port)) continue;
        await consul.call('PUT', '/v1/catalog/deregister', { Node: 'bench', ServiceID: id(service, port) });
      }
      known.set(service, new Set(ports));
    },
    stop: () => consul.stop(),
  };
}

async function startScripted(): Promise<Cluster> {
  const consul = await startScriptedConsul();
  return {
    name: 'a scripted Consul in the process of the benchmark',
    url: consul.url,
    async set(service, ports) {
      const entries = ports.map((port) => consulEntry({ id: `${service}-${port}`, address: '10.0.0.1', port }));
      consul.set(service, { entries });
    },
    stop: () => consul.stop(),
  };
}

// Weir as a subject: instances that register themselves, ejection by traffic, stale answers when all are down.
import { join } from 'node:path';
import { DrillService } from '../support/drill-service.ts';
import { startGateway } from '../support/gateway.ts';
import { ATTEMPTS, CONNECT_MS, FAILURES, RESPONSE_MS, type SubjectKind } from './subject.ts';
import { waitUntil } from './wait-until.ts';

const NAME = 'drill';

export const weirSubject: SubjectKind = {
  name: 'weir',
  missing: () => null,
  async start({ folder, instancePorts, port }) {
    const registry = `127.0.0.1:${port + 2}`;
    const service = new DrillService({ name: NAME, registryUrl: `http://${registry}`, ports: instancePorts });
    const gateway = await startGateway({
      port,
      adminPort: port + 1,
      workers: 2,
      gateway: {
        discovery: {
          source: 'registry',
          registry: { url: `http://${registry}`, interval: '200ms' },
          embeddedRegistry: { address: registry, store: 'sqlite::memory:' },
          snapshot: { path: join(folder, 'snapshot.json') },
        },
      },
      routes: {
        drill: {
          service: NAME,
          match: [{ paths: ['/*'] }],
          timeout: { connect: `${CONNECT_MS}ms`, response: `${RESPONSE_MS}ms` },
          retry: { attempts: ATTEMPTS },
          ejection: { consecutiveFailures: FAILURES, slowerThan: 3, base: '500ms', max: '4s' },
          fallback: { chain: [{ stale: { maxAge: '10m' } }] },
        },
      },
    });
    const stop = async (): Promise<void> => {
      await service.stop();
      await gateway.stop();
    };
    try {
      await service.start();
      await waitUntil('all endpoints', async () => (await gateway.states(NAME)).size === instancePorts.length);
    } catch (error) {
      await stop();
      throw error;
    }
    const has = async (endpoint: string): Promise<boolean> => (await gateway.states(NAME)).has(endpoint);
    return {
      port,
      instances: service.instances,
      async takeOut(instance) {
        await service.deregister(instance);
        await waitUntil('the endpoint to be gone', async () => !(await has(instance.endpoint)));
      },
      async putBack(instance) {
        await service.register(instance);
        await waitUntil('the endpoint', () => has(instance.endpoint));
      },
      untilWhole: () =>
        waitUntil('all endpoints to be active', async () => {
          const states = [...(await gateway.states(NAME)).values()];
          return states.length === instancePorts.length && states.every((state) => state === 'active');
        }),
      extraAttempts: () => gateway.metric('weir_retries_total'),
      stop,
    };
  },
};

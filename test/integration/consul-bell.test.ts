// Which changes a real Consul tells to the services that hold no connection, and how soon.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsulSource } from '../../gateway/discovery/consul.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { consulSourceOptions } from '../support/consul-source-options.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { type RecordedWatch, recordWatch } from '../support/record-events.ts';
import { waitFor } from '../support/wait-for.ts';

/** Services that hold the connections there are, so that the one of the test has to be told. */
const HOLDERS = 76;

/** Generous: what is not told is found after a minute. */
const LIMIT_MS = 1000;

describe.skipIf(!hasConsul())('a service without a connection of its own', () => {
  let consul: RealConsul;
  let source: DiscoverySource;
  let web: RecordedWatch;

  beforeAll(async () => {
    consul = await startConsul();
    source = createConsulSource(consulSourceOptions({ agents: [consul.url], accept: ['passing', 'warning'] }));
    for (let at = 0; at < HOLDERS; at++) recordWatch(source, `holder-${at}`);
    await register({});
    await register({ ID: 'web-2', Port: 2, Check: { CheckID: 'flip', Name: 'flip', TTL: '600s', Status: 'passing' } });
    web = recordWatch(source, 'web');
    await state('passing 1 1,passing 2 1');
  }, 60_000);
  afterAll(async () => {
    await source.stop();
    await consul.stop();
  });

  function register(changes: object): Promise<void> {
    return consul.register({ Name: 'web', ID: 'web-1', Address: '127.0.0.1', Port: 1, ...changes });
  }

  const last = () =>
    web.answers
      .at(-1)
      ?.instances.map(({ status, port, weight, tags, meta, host }) =>
        [status, port, weight, ...tags, ...Object.values(meta), ...(host === '127.0.0.1' ? [] : [host])].join(' '),
      )
      .sort()
      .join();

  async function state(expected: string): Promise<void> {
    await waitFor(() => last() === expected, { limitMs: LIMIT_MS, what: `${expected}, not ${last()}` });
  }

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'an instance without a check is added',
      () => register({ ID: 'web-3', Port: 3 }),
      'passing 1 1,passing 2 1,passing 3 1',
    ],
    ['it is removed', () => consul.deregister('web-3'), 'passing 1 1,passing 2 1'],
    ['a weight changes', () => register({ Weights: { Passing: 5, Warning: 1 } }), 'passing 1 5,passing 2 1'],
    ['meta changes', () => register({ Meta: { zone: 'a' } }), 'passing 1 1 a,passing 2 1'],
    ['a tag changes', () => register({ Tags: ['v2'] }), 'passing 1 1 v2,passing 2 1'],
    ['a port changes', () => register({ Port: 9 }), 'passing 2 1,passing 9 1'],
    ['it changes back', () => register({}), 'passing 1 1,passing 2 1'],
    ['a check warns', () => consul.setTtlCheck('flip', 'warn'), 'passing 1 1,warning 2 1'],
    ['a check fails', () => consul.setTtlCheck('flip', 'fail'), 'critical 2 1,passing 1 1'],
    ['a check passes', () => consul.setTtlCheck('flip', 'pass'), 'passing 1 1,passing 2 1'],
    [
      'an instance goes into maintenance',
      () => consul.setServiceMaintenance('web-2', true),
      'maintenance 2 1,passing 1 1',
    ],
    ['it comes back', () => consul.setServiceMaintenance('web-2', false), 'passing 1 1,passing 2 1'],
    ['the node goes into maintenance', () => consul.setNodeMaintenance(true), 'maintenance 1 1,maintenance 2 1'],
    ['the node comes back', () => consul.setNodeMaintenance(false), 'passing 1 1,passing 2 1'],
    [
      'a node is added with an instance',
      () => catalog({ Address: '10.0.0.7' }),
      'passing 1 1,passing 2 1,passing 7 1 10.0.0.7',
    ],
    ['the address of a node changes', () => node('10.0.0.8'), 'passing 1 1,passing 2 1,passing 7 1 10.0.0.8'],
    ['a check of the node fails', () => nodeCheck('critical'), 'critical 7 1 10.0.0.8,passing 1 1,passing 2 1'],
    ['a check of the node passes', () => nodeCheck('passing'), 'passing 1 1,passing 2 1,passing 7 1 10.0.0.8'],
    [
      'the node is removed',
      () => consul.call('PUT', '/v1/catalog/deregister', { Node: 'far' }),
      'passing 1 1,passing 2 1',
    ],
  ])('hears at once when %s', async (_what, change, expected) => {
    const changedAtMs = performance.now();
    await change();
    await state(expected);
    expect(performance.now() - changedAtMs).toBeLessThan(LIMIT_MS);
  });

  function catalog(changes: object): Promise<string> {
    return consul.call('PUT', '/v1/catalog/register', {
      Node: 'far',
      Service: { ID: 'web-7', Service: 'web', Port: 7 },
      ...changes,
    });
  }

  function node(address: string): Promise<string> {
    return consul.call('PUT', '/v1/catalog/register', { Node: 'far', Address: address });
  }

  function nodeCheck(status: string): Promise<string> {
    const check = { Node: 'far', CheckID: 'machine', Name: 'machine', Status: status };
    return consul.call('PUT', '/v1/catalog/register', { Node: 'far', Address: '10.0.0.8', Check: check });
  }
});

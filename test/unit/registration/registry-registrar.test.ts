// What is registered with the table registry, and what the gateway reads from it.
import { expect, it } from 'vitest';
import { decodeRegistryInstances } from '../../../gateway/discovery/registry-decode.ts';
import { tableRegistration } from '../../../gateway/registration/registry-registrar.ts';
import { readRegistration } from '../../../gateway/registration/registry-requests.ts';

const web = { service: 'web', instance: 'web-1', address: '10.0.0.5', port: 8080 };

it('has weight and tags in the meta, is accepted, and read by the gateway as it was meant', () => {
  const { service, ...listed } = tableRegistration({ ...web, weight: 4, tags: ['v2', 'blue'], meta: { zone: 'a' } });
  expect(readRegistration({ service, ...listed })).toMatchObject({ kind: 'ok' });
  const answer = JSON.stringify({ service, count: 1, instances: [listed] });
  expect(decodeRegistryInstances(answer, 'web')).toEqual({
    kind: 'records',
    instances: [
      {
        id: 'web-1',
        host: '10.0.0.5',
        port: 8080,
        weight: 4,
        status: 'passing',
        tags: ['v2', 'blue'],
        meta: { zone: 'a', weight: '4', tags: 'v2,blue' },
      },
    ],
    skipped: [],
    notes: [],
  });
});

it('has no tags where there are none', () => {
  expect(tableRegistration({ ...web, weight: 0, tags: [], meta: {} }).meta).toEqual({ weight: 0 });
});

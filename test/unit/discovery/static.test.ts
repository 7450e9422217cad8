// Fixed endpoints as a source.
import { expect, it } from 'vitest';
import type { Instance } from '../../../gateway/core/instance.ts';
import type { SourceEvent } from '../../../gateway/discovery/source.ts';
import { createStaticSource } from '../../../gateway/discovery/static.ts';

const instance: Instance = {
  id: '10.0.0.5:8080',
  host: '10.0.0.5',
  port: 8080,
  weight: 1,
  status: 'passing',
  tags: [],
  meta: {},
};

async function watchOnce(service: string): Promise<SourceEvent[]> {
  const events: SourceEvent[] = [];
  const source = createStaticSource((service) => (service === 'web' ? [instance] : []));
  source.watch({ service, resumeIndex: null, onEvent: (event) => events.push(event) });
  expect(events).toEqual([]);
  await Promise.resolve();
  return events;
}

it('answers once, after watch has returned', async () => {
  expect(await watchOnce('web')).toEqual([
    { kind: 'answer', instances: [instance], skipped: [], notes: [], index: null, doubt: null },
  ]);
});

it('knows no instance of a service that is not listed', async () => {
  expect(await watchOnce('other')).toMatchObject([{ kind: 'answer', instances: [], doubt: null }]);
});

it('reports nothing after it was stopped', async () => {
  const events: SourceEvent[] = [];
  const source = createStaticSource((service) => (service === 'web' ? [instance] : []));
  source.watch({ service: 'web', resumeIndex: null, onEvent: (event) => events.push(event) }).stop();
  await Promise.resolve();
  expect(events).toEqual([]);
});

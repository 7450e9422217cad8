import { describe, expect, it } from 'vitest';
import { Catalog } from '../../../gateway/pool/catalog.ts';
import { EndpointCell } from '../../../gateway/shared/endpoint-cell.ts';
import { ServiceCell } from '../../../gateway/shared/service-cell.ts';
import { endpoint } from '../../support/endpoints.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

function scene(...services: string[]) {
  const clock = createScriptedClock();
  const catalog = new Catalog(services, { lanes: 2, clock });
  const warmingOf = (service: string): Record<string, number | null> => {
    const endpoints = catalog.get(service)?.endpoints ?? [];
    return Object.fromEntries(endpoints.map(({ port, cell }) => [port, new EndpointCell(cell, -1).warmingSinceMs()]));
  };
  return { clock, catalog, warmingOf };
}

describe('the catalog of all pools', () => {
  it('begins with an empty pool for every service, and knows no others', () => {
    const { catalog } = scene('a', 'b');
    expect(catalog.all().map(({ service, endpoints }) => [service, endpoints])).toEqual([
      ['a', []],
      ['b', []],
    ]);
    expect([catalog.get('c'), catalog.update('c', [endpoint(1)]), catalog.version]).toEqual([undefined, undefined, 0]);
  });

  it('gives every change of any pool the next version', () => {
    const { catalog } = scene('a', 'b');
    const versions = ['a', 'b', 'a'].map((service) => catalog.update(service, [endpoint(1)])?.version);
    expect([versions, catalog.version]).toEqual([[1, 2, 3], 3]);
    expect(catalog.all().map(({ version }) => version)).toEqual([3, 2]);
  });

  it('keeps the cell of the service, and those of endpoints that stay', () => {
    const { catalog } = scene('a');
    const before = catalog.update('a', [endpoint(1), endpoint(2)]);
    const after = catalog.update('a', [endpoint(2, { weight: 9, tags: ['x'] }), endpoint(3)]);
    expect(after?.cell).toBe(before?.cell);
    expect(after?.endpoints[0]).toMatchObject({ id: before?.endpoints[1]?.id, weight: 9, tags: ['x'] });
    expect(after?.endpoints[0]?.cell).toBe(before?.endpoints[1]?.cell);
    expect(after?.endpoints.map(({ id }) => id)).toEqual([2, 3]);
  });

  it('starts an endpoint afresh when all of its instances were replaced, not when one stayed', () => {
    const { catalog } = scene('a');
    const ids = [['x', 'y'], ['y', 'z'], ['z'], ['w']].map((instances) => {
      return catalog.update('a', [endpoint(1, { instances })])?.endpoints[0]?.id;
    });
    expect(ids).toEqual([1, 1, 1, 2]);
  });

  it('never gives an id again, so that an endpoint which comes back is another', () => {
    const { catalog } = scene('a');
    const ids = [[endpoint(1)], [], [endpoint(1)]].map((endpoints) => {
      return catalog.update('a', endpoints)?.endpoints[0]?.id;
    });
    expect(ids).toEqual([1, undefined, 2]);
  });

  it('lets warm up what comes to a pool that was filled before, and nothing else', () => {
    const { clock, catalog, warmingOf } = scene('a', 'b');
    catalog.update('a', []);
    catalog.update('a', [endpoint(1), endpoint(2)]);
    expect(warmingOf('a')).toEqual({ 1: null, 2: null });
    clock.advance(4000);
    catalog.update('a', [endpoint(1), endpoint(2, { instances: ['new'] }), endpoint(3)]);
    expect(warmingOf('a')).toEqual({ 1: null, 2: 5000, 3: 5000 });
    clock.advance(1000);
    catalog.update('a', [endpoint(1), endpoint(3), endpoint(4)]);
    catalog.update('b', [endpoint(1)]);
    expect([warmingOf('a'), warmingOf('b')]).toEqual([{ 1: null, 3: 5000, 4: 6000 }, { 1: null }]);
  });

  it('takes other services: those that stay keep everything, new ones begin empty, the rest is forgotten', () => {
    const { catalog } = scene('a', 'b');
    catalog.update('a', [endpoint(1)]);
    catalog.update('b', [endpoint(1)]);
    const kept = catalog.get('a');
    catalog.setServices(['a', 'c']);
    expect(catalog.get('a')).toBe(kept);
    expect([catalog.get('b'), catalog.get('c')?.endpoints]).toEqual([undefined, []]);
    catalog.setServices(['b']);
    expect(catalog.get('b')?.endpoints).toEqual([]);
    expect(catalog.update('b', [endpoint(1)])?.endpoints[0]?.id).toBe(3);
  });

  it('gives each service memory of its own', () => {
    const { catalog } = scene('a', 'b');
    const [a, b] = catalog.all().map(({ cell }) => new ServiceCell(cell, 0));
    a?.nextTurn();
    expect([a?.nextTurn(), b?.nextTurn()]).toEqual([1, 0]);
  });
});

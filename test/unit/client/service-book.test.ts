import { describe, expect, it } from 'vitest';
import { ServiceBook } from '../../../gateway/client/service-book.ts';
import { type DiscoveryUpdate, unasked } from '../../../gateway/core/discovery-update.ts';
import { endpoint } from '../../support/endpoints.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const good = (service: string, endpoints: DiscoveryUpdate['endpoints'] = [endpoint(1)]): DiscoveryUpdate => {
  return { status: { ...unasked(service, 'consul'), lastSuccessMs: 1 }, endpoints };
};
const failed = (service: string): DiscoveryUpdate => {
  return { status: { ...unasked(service, 'consul'), lastError: 'refused' }, endpoints: null };
};

function openBook() {
  const pools: string[] = [];
  const logged: string[] = [];
  const write = (_fields: object, message: string): void => void logged.push(message);
  const book = new ServiceBook({
    services: new Map([
      ['a', 'consul'],
      ['b', 'consul'],
    ]),
    clock: createScriptedClock(),
    log: { debug: write, info: write, warn: write, error: write },
    onSnapshot: ({ service, endpoints }) => pools.push(`${service} ${endpoints.map(({ port }) => port).join()}`),
  });
  return { book, pools, logged };
}

describe('the book of services', () => {
  it('tells those who wait of the first good answer for their service, after the pool, and once', () => {
    const { book, pools } = openBook();
    const told: string[] = [];
    book.onFirstAnswer('a', () => told.push(`a after ${pools.length}`));
    book.onFirstAnswer('b', () => told.push('b'));
    book.take(failed('a'));
    expect([told, book.isAnswered('a')]).toEqual([[], false]);
    book.take(good('a'));
    book.take(good('a', [endpoint(2)]));
    expect([told, book.isAnswered('a'), book.isAnswered('b')]).toEqual([['a after 1'], true, false]);
    expect(pools).toEqual(['a 1', 'a 2']);
  });

  it('tells nobody who no longer waits', () => {
    const { book } = openBook();
    const told: string[] = [];
    const cancel = book.onFirstAnswer('a', () => told.push('a'));
    cancel();
    book.take(good('a'));
    expect(told).toEqual([]);
  });

  it('counts an answer that lists nobody as one', () => {
    const { book } = openBook();
    book.take(good('a', null));
    expect(book.isAnswered('a')).toBe(true);
  });

  it('takes nothing of a service that nobody uses', () => {
    const { book, pools } = openBook();
    book.take(good('c'));
    expect([pools, book.snapshots().map(({ service }) => service)]).toEqual([[], ['a', 'b']]);
  });

  it('logs once that discovery fails, and that it answers again', () => {
    const { book, logged } = openBook();
    for (const update of [good('a'), failed('a'), failed('a'), good('a', null)]) book.take(update);
    expect(logged).toEqual(['pool changed', 'discovery fails: the last good pool stays', 'discovery answers again']);
  });
});

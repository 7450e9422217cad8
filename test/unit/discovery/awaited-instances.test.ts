// Whom a source that has come back cannot know yet, and what becomes of a service meanwhile.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Instance, InstanceStatus } from '../../../gateway/core/instance.ts';
import { AwaitedInstances } from '../../../gateway/discovery/awaited-instances.ts';

const LETTERS: Readonly<Record<string, InstanceStatus>> = {
  P: 'passing',
  W: 'warning',
  C: 'critical',
  M: 'maintenance',
};

/** Instances 1, 2, 3 … by their statuses; `-` is one that is not listed. */
function list(statuses: string): Instance[] {
  return [...statuses].flatMap((letter, at) => {
    const status = LETTERS[letter];
    const facts = { host: '10.0.0.1', port: 8080 + at, weight: 1, tags: [], meta: {} };
    return status === undefined ? [] : [{ ...facts, id: `n/web-${at + 1}`, status }];
  });
}

function lettersOf(instances: readonly Instance[]): string {
  const byPort = new Map(instances.map(({ port, status }) => [port, status]));
  const letters = new Map(Object.entries(LETTERS).map(([letter, status]) => [status, letter]));
  const last = Math.max(8079, ...byPort.keys());
  return Array.from({ length: last - 8079 }, (_, at) => letters.get(byPort.get(8080 + at) ?? 'passing'))
    .map((letter, at) => (byPort.has(8080 + at) ? letter : '-'))
    .join('');
}

/** What becomes of these lists after an outage before which the statuses were those; `0` is an empty answer. */
function afterOutage(before: string, lists: readonly string[]): string[] {
  const awaited = new AwaitedInstances();
  awaited.complete(list(before));
  awaited.expect();
  return lists.flatMap((each) => {
    if (each !== '0') return [lettersOf(awaited.complete(list(each)).instances)];
    awaited.onStateLost();
    return [];
  });
}

it.each<[string, string, readonly string[], readonly string[]]>([
  ['all are critical until each passes', 'PPP', ['CCC', 'PCC', 'PPC', 'PPP'], ['PPP', 'PPP', 'PPP', 'PPP']],
  ['the list from before the outage is first', 'PPP', ['PPP', 'CPC', 'CCC', 'CCP'], ['PPP', 'PPP', 'PPP', 'PPP']],
  ['fewer than half are lost after they were well', 'PPP', ['PPP', 'PPC'], ['PPP', 'PPC']],
  ['one never passes', 'PPP', ['CCC', 'PPC', 'PPC'], ['PPP', 'PPP', 'PPP']],
  ['some were not well before', 'PCP', ['CCC', 'PCC'], ['PCP', 'PCP']],
  ['they were in a state of warning', 'WP', ['CC'], ['WP']],
  ['an operator set one aside', 'PPP', ['MCC', 'MPC'], ['MPP', 'MPP']],
  ['one left', 'PPP', ['-CC', '-PC'], ['-PP', '-PP']],
  ['a new one comes', 'PP', ['CCP', 'CCC'], ['PPP', 'PPC']],
  ['nobody was registered any more', 'PPP', ['0', 'P--', 'PC-', '-P-'], ['PPP', 'PPP', '-PP']],
  ['all were there, then gone', 'PPP', ['PPP', '0', '-P-', '-PP'], ['PPP', 'PPP', 'PPP']],
  ['nobody was well before', 'CC', ['CC'], ['CC']],
])('%s', (_what, before, lists, expected) => {
  expect(afterOutage(before, lists)).toEqual(expected);
});

it('takes what is registered now of one that is taken as it was', () => {
  const awaited = new AwaitedInstances();
  awaited.complete(list('P'));
  awaited.expect();
  const heavier = list('C').map((instance) => ({ ...instance, weight: 7 }));
  expect(awaited.complete(heavier).instances).toEqual(heavier.map((each) => ({ ...each, status: 'passing' })));
});

it('does not take one as it was that has another address now', () => {
  const awaited = new AwaitedInstances();
  awaited.complete(list('P'));
  awaited.expect();
  const moved = list('C').map((instance) => ({ ...instance, port: 9000 }));
  expect(awaited.complete(moved)).toEqual({ instances: moved, notes: [] });
});

it('says of each that it is taken as it was', () => {
  const awaited = new AwaitedInstances();
  awaited.complete(list('PP'));
  awaited.expect();
  awaited.onStateLost();
  expect(awaited.complete(list('C')).notes).toEqual([
    'instance "n/web-1": critical since the outage, may be well',
    'instance "n/web-2": not listed since the outage, may be on its way back',
  ]);
});

it('says nothing of one that was critical before the outage', () => {
  const awaited = new AwaitedInstances();
  awaited.complete(list('PC'));
  awaited.expect();
  expect(awaited.complete(list('PC'))).toEqual({ instances: list('PC'), notes: [] });
});

it('awaits nobody once it has given up, nor without an outage', () => {
  const awaited = new AwaitedInstances();
  awaited.complete(list('PP'));
  expect(lettersOf(awaited.complete(list('CC')).instances)).toBe('CC');
  awaited.complete(list('PP'));
  awaited.expect();
  awaited.giveUp();
  expect(lettersOf(awaited.complete(list('CC')).instances)).toBe('CC');
});

it('awaits after a second outage those that were taken as well, and not those that were believed to be critical', () => {
  const awaited = new AwaitedInstances();
  awaited.complete(list('PPP'));
  awaited.expect();
  awaited.complete(list('CPP'));
  awaited.complete(list('PPC'));
  awaited.expect();
  expect(lettersOf(awaited.complete(list('CCC')).instances)).toBe('PPC');
});

it('never leaves a service with fewer than half of those that were well, however their checks come and go', () => {
  const statuses = fc.integer({ min: 1, max: 8 }).chain((length) => {
    const each = fc.string({ unit: fc.constantFrom('P', 'C'), minLength: length, maxLength: length });
    return fc.tuple(fc.constant('P'.repeat(length)), fc.array(each, { maxLength: 10 }));
  });
  fc.assert(
    fc.property(statuses, ([before, lists]) => {
      for (const after of afterOutage(before, lists)) {
        expect([...after].filter((letter) => letter === 'P').length * 2).toBeGreaterThanOrEqual(before.length);
      }
    }),
  );
});

// The rules of ranges and watches: what is asked of etcd next, and what an answer is worth.
import { beforeEach, describe, expect, it } from 'vitest';
import { EtcdDialogue, type EtcdDialogueOptions } from '../../../gateway/discovery/etcd-dialogue.ts';
import { createScriptedClock, type ScriptedClock } from '../../support/scripted-clock.ts';

let clock: ScriptedClock;
beforeEach(() => {
  clock = createScriptedClock();
});

const value = (port: number) => JSON.stringify({ host: '10.0.0.5', port });

function start(changes: Partial<EtcdDialogueOptions> = {}) {
  const dialogue = new EtcdDialogue({
    prefix: '/services/web/',
    endpointCount: 1,
    resumeIndex: null,
    confirmEmptyMs: 2000,
    listenMs: 30_000,
    clock,
    ...changes,
  });
  const range = (revision: string, ...ports: number[]) => {
    const entries = ports.map((port) => ({ key: `/services/web/${port}`, value: value(port) }));
    return dialogue.onRange({ kind: 'range', revision, entries }, true);
  };
  const change = (revision: string, port: number, text: string | null = value(port)) =>
    dialogue.onMessage({ kind: 'changes', changes: [{ key: `/services/web/${port}`, value: text, revision }] });
  return { dialogue, range, change, next: () => dialogue.next(true) };
}

describe('a range and then a watch', () => {
  it('goes on after the revision of the range, digit for digit', () => {
    const { next, range } = start();
    expect(next()).toEqual({ kind: 'range', pauseMs: 0, endpoint: 0 });
    expect(range('9007199254740993', 1, 2)).toMatchObject([
      {
        instances: [
          { id: '1', port: 1 },
          { id: '2', port: 2 },
        ],
        index: '9007199254740993',
        doubt: null,
      },
    ]);
    expect(next()).toEqual({ kind: 'watch', revision: '9007199254740993', endpoint: 0 });
  });

  it('applies what is set and deleted, with the revision of the change', () => {
    const { range, change } = start();
    range('5', 1);
    expect(change('6', 2)).toMatchObject([{ instances: [{ port: 1 }, { port: 2 }], index: '6' }]);
    expect(change('7', 1, null)).toMatchObject([{ instances: [{ port: 2 }], index: '7' }]);
    expect(change('8', 2, 'junk')).toMatchObject([
      { instances: [], skipped: [expect.stringMatching(/not JSON/)], doubt: expect.stringMatching(/no value can be/) },
    ]);
    expect(change('9', 2, value(3))).toMatchObject([{ instances: [{ id: '2', port: 3 }], skipped: [] }]);
  });

  it('ignores keys of others, and says nothing for a message without news', () => {
    const { dialogue, range } = start();
    range('5', 1);
    const changes = [{ key: '/services/other/1', value: value(9), revision: '6' }];
    expect(dialogue.onMessage({ kind: 'changes', changes })).toMatchObject([{ instances: [{ port: 1 }] }]);
    expect(dialogue.onMessage({ kind: 'progress' })).toEqual([]);
    expect(dialogue.onMessage({ kind: 'changes', changes: [] })).toEqual([]);
  });

  it('is ranged again when it has lasted', () => {
    const { dialogue, range, next } = start();
    range('5', 1);
    expect(dialogue.listenMs()).toBe(22_500);
    clock.advance(20_000);
    expect(dialogue.listenMs()).toBe(2500);
    dialogue.onListened();
    expect(next()).toEqual({ kind: 'range', pauseMs: 0, endpoint: 0 });
    expect(range('6', 2)).toMatchObject([{ instances: [{ port: 2 }] }]);
  });

  it('is a range every two seconds where no connection may be held', () => {
    const { dialogue, range } = start();
    range('5', 1);
    expect(dialogue.next(false)).toEqual({ kind: 'range', pauseMs: 2000, endpoint: 0 });
  });
});

describe('a watch that ends', () => {
  it('by compaction is followed by a range at once, and that is no failure', () => {
    const { dialogue, range, next } = start();
    range('5', 1);
    expect(dialogue.onMessage({ kind: 'canceled', compactRevision: '9', reason: 'compacted' })).toEqual([]);
    expect(next()).toEqual({ kind: 'range', pauseMs: 0, endpoint: 0 });
  });

  it.each([
    { kind: 'canceled', compactRevision: null, reason: '"no permission"' },
    { kind: 'broken', error: 'connection reset' },
  ] as const)('by %j is a failure, and the next endpoint is ranged after a pause', (message) => {
    const { dialogue, range, next } = start({ endpointCount: 2 });
    range('5', 1);
    expect(dialogue.onMessage(message)).toMatchObject([{ kind: 'failure' }]);
    expect(next()).toEqual({ kind: 'range', pauseMs: 187.5, endpoint: 1 });
  });
});

describe('failures', () => {
  it('back off to 30 s, each round of endpoints once', () => {
    const { dialogue, next } = start({ endpointCount: 2 });
    const pauses = Array.from({ length: 18 }, () => {
      dialogue.onFailure('refused');
      const step = next();
      return step.kind === 'range' ? step.pauseMs : -1;
    });
    expect(pauses.slice(0, 5)).toEqual([187.5, 187.5, 375, 375, 750]);
    expect(pauses.at(-1)).toBe(22_500);
  });

  it('grow on while ranges work and watches do not', () => {
    const { dialogue, range, next } = start();
    for (let round = 0; round < 3; round++) {
      range('5', 1);
      dialogue.onMessage({ kind: 'broken', error: 'not found' });
    }
    expect(next()).toMatchObject({ pauseMs: 750 });
    range('5', 1);
    dialogue.onMessage({ kind: 'created' });
    dialogue.onMessage({ kind: 'broken', error: 'reset' });
    expect(next()).toMatchObject({ pauseMs: 187.5 });
  });
});

describe('emptiness', () => {
  it('is believed when a second range says the same after confirmEmptyMs', () => {
    const { dialogue, range, change, next } = start();
    range('5', 1);
    expect(change('6', 1, null)).toEqual([]);
    expect(next()).toMatchObject({ kind: 'watch', revision: '6' });
    expect(dialogue.listenMs()).toBe(2000);
    clock.advance(2000);
    dialogue.onListened();
    expect(next()).toMatchObject({ kind: 'range', pauseMs: 0 });
    expect(range('6')).toMatchObject([{ instances: [], doubt: null, index: '6' }]);
    expect(range('7')).toMatchObject([{ instances: [], doubt: null }]);
  });

  it('is not reported when an instance comes back meanwhile', () => {
    const { range, change, dialogue } = start();
    range('5', 1);
    change('6', 1, null);
    expect(change('7', 2)).toMatchObject([{ instances: [{ port: 2 }] }]);
    expect(dialogue.listenMs()).toBeGreaterThan(2000);
  });

  it('is not confirmed by a range before its time', () => {
    const { range, next } = start();
    range('5');
    clock.advance(1999);
    expect(range('6')).toEqual([]);
    expect(next()).toMatchObject({ kind: 'watch' });
    clock.advance(1);
    expect(range('6')).toMatchObject([{ doubt: null }]);
  });

  it('is doubtful when it could not be confirmed', () => {
    const { dialogue, range } = start();
    range('5');
    expect(dialogue.onFailure('refused')).toMatchObject([
      { kind: 'answer', instances: [], doubt: 'empty, but not confirmed: refused' },
      { kind: 'failure' },
    ]);
  });

  it.each([null, '4711'])(
    'of a store whose revision went back is doubtful, however often (resumed at %s)',
    (resumeIndex) => {
      const { range } = start({ resumeIndex });
      if (resumeIndex === null) range('4711', 1);
      const doubt = 'empty, but the revision went back from 4711 to 1: the store was lost or restored';
      expect(range('1')).toMatchObject([{ instances: [], doubt }]);
      expect(range('1')).toMatchObject([{ instances: [], doubt }]);
      expect(range('2', 1)).toMatchObject([{ instances: [{ port: 1 }], doubt: null }]);
    },
  );

  it('is asked about in time where no connection may be held', () => {
    const { dialogue } = start({ confirmEmptyMs: 300 });
    dialogue.onRange({ kind: 'range', revision: '5', entries: [] }, false);
    expect(dialogue.next(false)).toMatchObject({ kind: 'range', pauseMs: 300 });
  });
});

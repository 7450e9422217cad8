// The rules of blocking queries: what is asked next, and what an answer is worth.
import { beforeEach, describe, expect, it } from 'vitest';
import type { DialogueOptions } from '../../../gateway/discovery/consul-dialogue.ts';
import type { ConsulHead } from '../../../gateway/discovery/consul-head.ts';
import { dialogueInstance as instance, startDialogue } from '../../support/consul-dialogue-start.ts';
import { createScriptedClock, type ScriptedClock } from '../../support/scripted-clock.ts';

let clock: ScriptedClock;
beforeEach(() => {
  clock = createScriptedClock();
});

const start = (changes: Partial<DialogueOptions> = {}) => startDialogue(clock, changes);

describe('the index', () => {
  it('is absent at first, then the one of the last answer, digit for digit (case 63)', () => {
    const { next, hear } = start();
    expect(next()).toMatchObject({ index: null, pauseMs: 0, mode: 'blocking' });
    hear([instance], { index: '9007199254740992' });
    expect(next()).toMatchObject({ index: '9007199254740992', pauseMs: 0, waitMs: 60_000 });
    expect(hear([instance], { index: '9007199254740993' })).toMatchObject([{ index: '9007199254740993' }]);
    expect(next().index).toBe('9007199254740993');
  });

  it('resumes where somebody else stopped', () => {
    expect(start({ resumeIndex: '4711' }).next()).toMatchObject({ index: '4711', pauseMs: 0 });
  });

  it('is dropped when it goes backwards, and the answer counts all the same (case 61)', () => {
    const { next, hear } = start();
    hear([instance], { index: '900' });
    expect(hear([instance], { index: '100' })).toMatchObject([{ kind: 'answer', index: '100', doubt: null }]);
    expect(next()).toMatchObject({ index: null, pauseMs: 0 });
    hear([instance], { index: '100' });
    expect(next().index).toBe('100');
  });

  it('is not needed: an answer without one is followed by another question within a second', () => {
    const { next, hear } = start();
    expect(hear([instance], { index: null })).toMatchObject([{ index: null }]);
    expect(next()).toMatchObject({ index: null, pauseMs: 1000 });
  });

  it('may stay the same while the content changed (case 97)', () => {
    const { hear } = start();
    hear([instance], { index: '5' });
    expect(hear([{ ...instance, port: 1 }], { index: '5' })).toMatchObject([{ instances: [{ port: 1 }] }]);
  });
});

describe('failures', () => {
  it('are reported, lead to the next agent, anew, and back off up to 30 s (cases 69, 73)', () => {
    const { dialogue, next, hear } = start();
    hear([instance], { index: '900' });
    const pausesMs = Array.from({ length: 12 }, () => {
      expect(dialogue.onFailure('refused')).toEqual([{ kind: 'failure', error: 'refused' }]);
      return next().pauseMs;
    });
    expect(pausesMs).toEqual([187.5, 375, 750, 1500, 3000, 6000, 12_000, 22_500, 22_500, 22_500, 22_500, 22_500]);
    expect(next()).toMatchObject({ index: null, agent: 12 });
  });

  it('go through all agents before they wait longer', () => {
    const { dialogue, next } = start({ agentCount: 3 });
    const steps = Array.from({ length: 7 }, () => {
      dialogue.onFailure('refused');
      return [next().agent, next().pauseMs];
    });
    expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7].map((agent) => [agent, [187.5, 375, 750][Math.ceil(agent / 3) - 1]]));
  });

  it('are forgotten with the first answer, whose agent stays', () => {
    const { dialogue, next, hear } = start({ agentCount: 2 });
    for (let failure = 0; failure < 9; failure++) dialogue.onFailure('refused');
    hear([instance], { index: '7' });
    expect(next()).toMatchObject({ pauseMs: 0, index: '7', agent: 9 });
    dialogue.onFailure('refused');
    expect(next().pauseMs).toBe(187.5);
  });
});

describe('an empty answer', () => {
  it('is held back, listened on, asked again consistently, and only then believed (case 70)', () => {
    const { next, hear } = start();
    hear([instance], { index: '10' });
    expect(hear([], { index: '11' })).toEqual([]);
    expect(next()).toMatchObject({ mode: 'blocking', index: '11', waitMs: 2000, pauseMs: 0 });
    clock.advance(1500);
    expect(hear([], { index: '12' })).toEqual([]);
    expect(next()).toMatchObject({ mode: 'blocking', index: '12', waitMs: 500 });
    clock.advance(500);
    expect(next()).toMatchObject({ mode: 'confirming', index: null, consistency: 'consistent', pauseMs: 0 });
    expect(hear([], { index: '12' })).toMatchObject([{ kind: 'answer', instances: [], doubt: null, index: '12' }]);
  });

  it('is believed without further ado while nothing else was heard', () => {
    const { hear, next } = start();
    hear([], { index: '10' });
    clock.advance(2000);
    hear([], { index: '10' });
    expect(hear([], { index: '11' })).toMatchObject([{ instances: [], doubt: null }]);
    expect(next()).toMatchObject({ mode: 'blocking', index: '11', waitMs: 60_000 });
  });

  it('is asked about without listening where the service may not block', () => {
    const { dialogue, hear } = start();
    hear([], { index: '10' });
    clock.advance(500);
    expect(dialogue.next(false)).toMatchObject({ mode: 'confirming', index: null, pauseMs: 1500 });
  });

  it('is forgotten when instances come back while it is held', () => {
    const { hear, next } = start();
    hear([], { index: '10' });
    expect(hear([instance], { index: '11' })).toMatchObject([{ instances: [{ port: 8080 }] }]);
    expect(next()).toMatchObject({ mode: 'blocking', index: '11', waitMs: 60_000 });
    expect(hear([], { index: '12' })).toEqual([]);
  });

  it('is forgotten when the confirmation shows instances', () => {
    const { hear } = start();
    hear([], { index: '10' });
    clock.advance(2000);
    expect(hear([instance], { index: '10' })).toMatchObject([{ instances: [{ port: 8080 }], doubt: null }]);
  });

  it('is doubtful when the confirmation fails', () => {
    const { dialogue, hear, next } = start();
    hear([], { index: '10' });
    clock.advance(2000);
    expect(dialogue.onFailure('status 500')).toEqual([
      expect.objectContaining({ kind: 'answer', instances: [], doubt: expect.stringContaining('status 500') }),
      { kind: 'failure', error: 'status 500' },
    ]);
    expect(next()).toMatchObject({ mode: 'blocking', index: null, consistency: 'default', pauseMs: 187.5 });
  });

  it('is doubtful when the confirmation comes from a server without leader', () => {
    const { hear } = start();
    hear([], { index: '10' });
    clock.advance(2000);
    expect(hear([], { index: '10', hasLeader: false })).toMatchObject([{ doubt: expect.stringMatching(/no leader/) }]);
  });

  it.each<[string, Partial<ConsulHead>]>([
    ['without a known leader', { hasLeader: false }],
    ['long after the last contact', { lastContactMs: 60_000 }],
  ])('%s is doubtful at once, and the next agent is asked anew and soon (case 70)', (_what, head) => {
    const { hear, next } = start();
    hear([instance], { index: '10' });
    for (const pauseMs of [187.5, 375, 750, 1500, 1500, 1500]) {
      expect(hear([], { index: '11', ...head })).toMatchObject([{ kind: 'answer', doubt: expect.any(String) }]);
      expect(next()).toMatchObject({ index: null, pauseMs, mode: 'blocking' });
    }
    expect(next().agent).toBe(6);
  });

  it('filtered by ACLs is doubtful, and goes on blocking (case 72)', () => {
    const { hear, next } = start();
    hear([instance], { index: '10' });
    expect(hear([], { index: '11', isFiltered: true })).toMatchObject([{ doubt: expect.stringMatching(/ACL/) }]);
    expect(next()).toMatchObject({ index: '11', waitMs: 60_000, pauseMs: 0 });
  });

  it('is doubtful when it is empty only because every record is unusable (case 66)', () => {
    const { hear } = start();
    expect(hear([], { index: '11' }, ['bad'])).toMatchObject([{ doubt: expect.any(String), skipped: ['bad'] }]);
  });

  it('below the last filled index is doubtful until instances or a higher index are seen (case 61)', () => {
    const { hear } = start();
    hear([instance], { index: '900' });
    for (let answer = 0; answer < 3; answer++) {
      expect(hear([], { index: '100' })).toMatchObject([{ doubt: expect.stringMatching(/from 900 to 100/) }]);
    }
    hear([instance], { index: '101' });
    expect(hear([], { index: '102' })).toEqual([]);
    clock.advance(2000);
    expect(hear([], { index: '102' })).toMatchObject([{ doubt: null }]);
  });

  it('below the index resumed from is doubtful', () => {
    const { hear } = start({ resumeIndex: '900' });
    expect(hear([], { index: '100' })).toMatchObject([{ doubt: expect.stringMatching(/from 900 to 100/) }]);
  });

  it('below the filled index can be confirmed under `stale`, where servers differ in their indexes', () => {
    const { hear, next } = start({ consistency: 'stale' });
    hear([instance], { index: '900' });
    expect(hear([], { index: '880' })).toMatchObject([{ doubt: expect.any(String) }]);
    expect(next().index).toBeNull();
    expect(hear([], { index: '880' })).toEqual([]);
    clock.advance(2000);
    expect(hear([], { index: '870' })).toMatchObject([{ doubt: null }]);
  });
});

it('reports instances that ACLs hide in part, with a note', () => {
  const { hear } = start();
  expect(hear([instance], { isFiltered: true })).toMatchObject([
    { doubt: null, notes: [expect.stringMatching(/ACL/)] },
  ]);
});

it('reports a list whose instances are all critical as it is: it is not empty', () => {
  const { hear } = start();
  expect(hear([{ ...instance, status: 'critical' }], {})).toMatchObject([{ doubt: null, instances: [{}] }]);
});

it('polls every two seconds without index where the service may not block, at first at once', () => {
  const { dialogue } = start({ resumeIndex: '5' });
  const step = dialogue.next(false);
  expect(step).toMatchObject({ index: null, pauseMs: 0, mode: 'polling' });
  const head = { index: '6', hasLeader: true, isFiltered: false, lastContactMs: 0 };
  dialogue.onReply({ kind: 'records', instances: [instance], skipped: [], notes: [], head }, step);
  expect(dialogue.next(false)).toMatchObject({ index: null, pauseMs: 2000, mode: 'polling' });
});

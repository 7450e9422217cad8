// What an answer is worth after an outage, while the agent may not know yet who is well and who is there.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Instance } from '../../../gateway/core/instance.ts';
import type { DialogueOptions } from '../../../gateway/discovery/consul-dialogue.ts';
import { dialogueInstance as instance, startDialogue } from '../../support/consul-dialogue-start.ts';
import { createScriptedClock, type ScriptedClock } from '../../support/scripted-clock.ts';

let clock: ScriptedClock;
beforeEach(() => {
  clock = createScriptedClock();
});

const start = (changes: Partial<DialogueOptions> = {}) => startDialogue(clock, changes);

describe('after an outage', () => {
  const critical: Instance = { ...instance, status: 'critical' };
  const DOUBTED = [{ instances: [critical], doubt: expect.stringMatching(/a moment ago/) }];
  const BELIEVED = [{ instances: [critical], doubt: null }];

  it('doubts for 30 s from the first answer on that nobody is well: heartbeats could not reach the agent either', () => {
    const { dialogue, hear } = start();
    dialogue.onFailure('refused');
    // As long as the longest pause between two questions, and longer.
    clock.advance(45_000);
    expect(hear([critical], {})).toMatchObject(DOUBTED);
    clock.advance(29_999);
    expect(hear([critical], {})).toMatchObject(DOUBTED);
    clock.advance(1);
    expect(hear([critical], {})).toMatchObject(BELIEVED);
  });

  it('begins to doubt anew with each outage', () => {
    const { dialogue, hear } = start();
    for (let outage = 0; outage < 2; outage++) {
      dialogue.onFailure('refused');
      expect(hear([critical], {})).toMatchObject(DOUBTED);
      clock.advance(30_000);
      expect(hear([critical], {})).toMatchObject(BELIEVED);
    }
  });

  describe('of an agent that had told of instances that are well', () => {
    const [one, two] = [instance, { ...instance, id: 'n/web-2', port: 8082 }];
    const sick = (which: Instance): Instance => ({ ...which, status: 'critical' });

    function afterOutage() {
      const started = start();
      started.hear([one, two], {});
      started.dialogue.onFailure('refused');
      return started;
    }

    it('takes those that are critical as they were until each was well again, and says so', () => {
      const { hear } = afterOutage();
      const note = (id: string) => `instance "${id}": critical since the outage, may be well`;
      expect(hear([sick(one), sick(two)], {})).toMatchObject([
        { instances: [one, two], notes: [note(one.id), note(two.id)] },
      ]);
      expect(hear([one, sick(two)], {})).toMatchObject([{ instances: [one, two], notes: [note(two.id)] }]);
      expect(hear([one, two], {})).toMatchObject([{ instances: [one, two], notes: [] }]);
      expect(hear([sick(one), two], {})).toMatchObject([{ instances: [sick(one), two], notes: [] }]);
    });

    it('believes it after 30 s, and asks when they are over', () => {
      const { dialogue, hear } = afterOutage();
      hear([sick(one), two], {});
      expect(dialogue.next(true).waitMs).toBe(30_000);
      clock.advance(30_000);
      expect(hear([sick(one), two], {})).toMatchObject([{ instances: [sick(one), two], notes: [] }]);
      expect(dialogue.next(true).waitMs).toBe(60_000);
    });

    it('takes them so too when the list from before the outage comes first', () => {
      const { hear } = afterOutage();
      hear([one, two], {});
      expect(hear([sick(one), sick(two)], {})).toMatchObject([{ instances: [one, two] }]);
    });

    it('awaits those that are not listed where the index went backwards: the state was lost', () => {
      const started = start();
      started.hear([one, two], { index: '900' });
      started.dialogue.onFailure('refused');
      expect(started.hear([one], { index: '12' })).toMatchObject([{ instances: [one, two] }]);
      expect(started.hear([one], { index: '13' })).toMatchObject([{ instances: [one, two] }]);
      clock.advance(30_000);
      expect(started.hear([one], { index: '13' })).toMatchObject([{ instances: [one], doubt: null }]);
    });

    it('believes under `stale` that one left, though another server has a lower index', () => {
      const started = start({ consistency: 'stale' });
      started.hear([one, two], { index: '900' });
      started.dialogue.onFailure('refused');
      expect(started.hear([one], { index: '880' })).toMatchObject([{ instances: [one], doubt: null }]);
    });

    it('doubts that there is none, and awaits the others when the first is registered again', () => {
      const { dialogue, hear, next } = afterOutage();
      expect(hear([], { index: '2' })).toMatchObject([{ instances: [], doubt: expect.stringMatching(/a moment ago/) }]);
      expect(next()).toMatchObject({ mode: 'blocking', index: '2', waitMs: 30_000 });
      clock.advance(5000);
      expect(hear([two], { index: '3' })).toMatchObject([{ instances: [two, one] }]);
      expect(dialogue.next(true).waitMs).toBe(25_000);
      expect(hear([two, one], { index: '4' })).toMatchObject([{ instances: [two, one], notes: [], doubt: null }]);
      expect(dialogue.next(true).waitMs).toBe(60_000);
    });

    it('believes after 30 s that there is none, once that is confirmed', () => {
      const { hear, next } = afterOutage();
      hear([], { index: '2' });
      clock.advance(30_000);
      expect(hear([], { index: '2' })).toEqual([]);
      clock.advance(2000);
      expect(next().mode).toBe('confirming');
      expect(hear([], { index: '2' })).toMatchObject([{ instances: [], doubt: null }]);
    });

    it('believes at once that an operator has set all aside', () => {
      const { hear } = afterOutage();
      const aside = [one, two].map((each): Instance => ({ ...each, status: 'maintenance' }));
      expect(hear(aside, {})).toMatchObject([{ instances: aside, doubt: null }]);
    });

    it('awaits them also when others saw the outage', () => {
      const { dialogue, hear } = start();
      hear([one, two], {});
      dialogue.onOutage();
      expect(hear([sick(one), sick(two)], {})).toMatchObject([{ instances: [one, two] }]);
    });

    it('lets go at once of those that an operator has set aside, that left, or that were not well before', () => {
      const { hear } = afterOutage();
      const three: Instance = { ...sick(instance), id: 'n/web-3' };
      const aside: Instance = { ...two, status: 'maintenance' };
      expect(hear([aside, three], {})).toMatchObject([{ instances: [aside, three], notes: [] }]);
      expect(hear([sick(one), sick(two)], {})).toMatchObject([{ instances: [sick(one), sick(two)] }]);
    });
  });

  it('doubts that nobody is well, or there, of a service that has a pool of somebody else’s answers', () => {
    const { hear } = start({ hasPool: true, resumeIndex: '7' });
    expect(hear([critical], { index: '8' })).toMatchObject(DOUBTED);
    expect(hear([], { index: '9' })).toMatchObject([{ doubt: expect.stringMatching(/a moment ago/) }]);
    clock.advance(30_000);
    expect(hear([critical], { index: '8' })).toMatchObject(BELIEVED);
  });

  it('goes on believing that a service is empty which was so before', () => {
    const { dialogue, hear } = start();
    hear([], { index: '10' });
    clock.advance(2000);
    hear([], { index: '10' });
    dialogue.onFailure('refused');
    expect(hear([], { index: '11' })).toMatchObject([{ instances: [], doubt: null }]);
  });

  it('believes it of an agent that always answered', () => {
    const { hear } = start();
    expect(hear([instance], {})).toMatchObject([{ doubt: null }]);
    expect(hear([critical], {})).toMatchObject(BELIEVED);
  });
});

// What happens to the instances, the same for every gateway: troubles of one, restarts of all, all down.
import { setTimeout as delay } from 'node:timers/promises';
import type { Behaviour } from '../support/drill-instance.ts';
import type { DrillInstance } from '../support/drill-service.ts';
import { ALL_DOWN } from './chaos-result.ts';
import type { Subject } from './subject.ts';

export interface InstanceStep {
  readonly name: string;
  run(subject: Subject, pace: Pace): Promise<void>;
}

/** How long things take. */
export interface Pace {
  readonly troubleMs: number;
  /** Between the end of a trouble and that of its step. */
  readonly settleMs: number;
  readonly restartMs: number;
}

export const STEPS: readonly InstanceStep[] = [
  { name: 'nothing, for comparison', run: (_, { settleMs }) => delay(settleMs) },
  {
    name: 'one is killed, and started again',
    run: (subject, pace) =>
      trouble(pace, { begin: () => victimOf(subject).end('SIGKILL'), end: () => victimOf(subject).start() }),
  },
  behaving('one answers 503', 'status 503'),
  behaving('one answers 500', 'status 500'),
  behaving('one is 20 times slower', 'slow'),
  behaving('one hangs (response timeout 1 s)', 'hangs'),
  behaving('one resets its answers in the middle', 'resets'),
  { name: 'all are restarted in turn, each taken out first', run: restartedInOrder },
  { name: 'all are restarted in turn, without a word', run: restartedWithoutAWord },
  { name: ALL_DOWN, run: allDown },
];

function behaving(name: string, behaviour: Behaviour): InstanceStep {
  return {
    name,
    run: (subject, pace) => {
      const victim = victimOf(subject);
      return trouble(pace, { begin: () => victim.behave(behaviour), end: () => victim.behave('well') });
    },
  };
}

function victimOf({ instances }: Subject): DrillInstance {
  const [, victim] = instances;
  if (victim === undefined) throw new Error('no instances');
  return victim;
}

async function trouble(
  { troubleMs, settleMs }: Pace,
  { begin, end }: { begin: () => Promise<void>; end: () => Promise<void> },
): Promise<void> {
  await begin();
  await delay(troubleMs);
  await end();
  await delay(settleMs);
}

async function restartedInOrder(subject: Subject, { restartMs, settleMs }: Pace): Promise<void> {
  for (const instance of subject.instances) {
    await subject.takeOut(instance);
    await delay(restartMs);
    await instance.end('SIGTERM');
    await instance.start();
    await subject.putBack(instance);
    await delay(restartMs);
  }
  await delay(settleMs);
}

async function restartedWithoutAWord({ instances }: Subject, { restartMs, settleMs }: Pace): Promise<void> {
  for (const instance of instances) {
    await instance.end('SIGKILL');
    await delay(restartMs);
    await instance.start();
    await delay(settleMs);
  }
}

async function allDown({ instances }: Subject, { troubleMs, settleMs }: Pace): Promise<void> {
  await Promise.all(instances.map((instance) => instance.end('SIGKILL')));
  await delay(troubleMs);
  await Promise.all(instances.map((instance) => instance.start()));
  await delay(settleMs);
}

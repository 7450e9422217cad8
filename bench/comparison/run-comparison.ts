// Puts one gateway after the other through the instance steps, under steady load, and notes what happened when.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freeRange } from '../support/free-range.ts';
import type { RunSession } from '../support/run-session.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import type { ChaosMark, ChaosStep, Moment } from './chaos-result.ts';
import { haproxySubject } from './haproxy-subject.ts';
import { nginxSubject } from './nginx-subject.ts';
import { type Pace, STEPS } from './steps.ts';
import type { Subject, SubjectKind } from './subject.ts';
import { weirSubject } from './weir-subject.ts';

/** The gateways that go through the steps. */
export const SUBJECTS: readonly SubjectKind[] = [weirSubject, nginxSubject, haproxySubject];

const INSTANCES = 5;
const LOAD = { clients: 20, restMs: 5 };
const WARM_UP_MS = 1000;
/** The width of a slice of the timeline. */
const SLICE_MS = 250;

export interface SubjectRun {
  readonly steps: readonly ChaosStep[];
  readonly moments: readonly Moment[];
  readonly marks: readonly ChaosMark[];
}

/** Runs all steps; those that were done when the session was stopped. */
export async function runSubject(kind: SubjectKind, pace: Pace, session: RunSession): Promise<SubjectRun> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-chaos-'));
  mkdirSync(join(folder, 'own'));
  const [port = 0, , , , ...instancePorts] = await freeRange(4 + INSTANCES);
  try {
    const subject = await kind.start({ folder: join(folder, 'own'), instancePorts, port });
    const load = new SteadyLoad(`http://127.0.0.1:${port}`, LOAD);
    try {
      await delay(WARM_UP_MS);
      load.take();
      return await runSteps({ name: kind.name, subject, load, pace, session });
    } finally {
      await load.stop();
      await subject.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runSteps(run: {
  name: string;
  subject: Subject;
  load: SteadyLoad;
  pace: Pace;
  session: RunSession;
}): Promise<SubjectRun> {
  const { name, subject, load, pace, session } = run;
  const [steps, moments, marks]: [ChaosStep[], Moment[], ChaosMark[]] = [[], [], []];
  const beganMs = performance.now();
  const sinceMs = (): number => Math.round(performance.now() - beganMs);
  let slowestMs = 0;
  const slice = (): void => {
    const { requests, failed, degraded, slowestMs: slowest } = load.take();
    moments.push({ atMs: sinceMs(), requests, failed, degraded });
    slowestMs = Math.max(slowestMs, slowest);
  };
  const slices = setInterval(slice, SLICE_MS);
  try {
    for (const step of STEPS) {
      if (session.isStopped) break;
      session.begin(`${name}: ${step.name}`);
      await subject.untilWhole();
      slice();
      const [fromMs, first, extra] = [sinceMs(), moments.length, await subject.extraAttempts()];
      slowestMs = 0;
      await step.run(subject, pace);
      slice();
      const own = moments.slice(first);
      const sum = (of: (moment: Moment) => number): number => own.reduce((total, moment) => total + of(moment), 0);
      marks.push({ subject: name, step: step.name, fromMs, toMs: sinceMs() });
      steps.push({
        subject: name,
        step: step.name,
        requests: sum(({ requests }) => requests),
        failed: sum(({ failed }) => failed),
        degraded: sum(({ degraded }) => degraded),
        extraAttempts: (await subject.extraAttempts()) - extra,
        slowestMs,
      });
      session.end();
    }
  } catch (error) {
    // What a signal from the terminal ended is no failure of the step.
    if (!session.isStopped) throw error;
  } finally {
    clearInterval(slices);
  }
  return { steps, moments, marks };
}

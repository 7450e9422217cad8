// The chaos score: instance steps for Weir, nginx and HAProxy, then Weir's own drills, in one table; `npm run bench:chaos`.
import { parseArgs } from 'node:util';
import type { ChaosMark, ChaosResult, ChaosStep } from './comparison/chaos-result.ts';
import { runSubject, SUBJECTS } from './comparison/run-comparison.ts';
import { drillNames, runDrill } from './comparison/run-drill.ts';
import { type Pace, STEPS } from './comparison/steps.ts';
import { about, outFolder, readResults, storeResult } from './report/results.ts';
import { chaosScore, chaosTable } from './report/tables.ts';
import { writeReport } from './report/write-report.ts';
import { RunSession } from './support/run-session.ts';

const PACE: Pace = { troubleMs: 10_000, settleMs: 4000, restartMs: 1000 };
const SHORT: Pace = { troubleMs: 1500, settleMs: 1000, restartMs: 300 };

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    drills: { type: 'string', default: drillNames().join(',') },
    subjects: { type: 'string', default: SUBJECTS.map(({ name }) => name).join(',') },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`usage: npm run bench:chaos -- [options]

  --subjects NAMES  of ${SUBJECTS.map(({ name }) => name).join(', ')}: these go through the instance steps
  --drills NAMES    of ${drillNames().join(', ')}; '' for none
  --short           short troubles; what comes of it goes to data/bench

Results: bench/results/chaos.json, bench/RESULTS.md, bench/report.html. Ctrl-C keeps what is done.
`);
} else {
  process.exitCode = await main();
}

async function main(): Promise<number> {
  const pace = values.short ? SHORT : PACE;
  const kinds = SUBJECTS.filter(({ name }) => values.subjects.split(',').includes(name));
  const drills = values.drills.split(',').filter((name) => drillNames().includes(name));
  const session = new RunSession(kinds.length * STEPS.length + drills.length * STEPS.length);
  const result = {
    steps: [] as ChaosStep[],
    drills: [] as ChaosStep[],
    verdicts: {} as Record<string, string>,
    timelines: [] as ChaosResult['timelines'][number][],
    marks: [] as ChaosMark[],
    absent: {} as Record<string, string>,
  };
  const out = outFolder(values.short || kinds.length < SUBJECTS.length || drills.length < drillNames().length);
  try {
    for (const kind of kinds) {
      if (session.isStopped) break;
      const missing = kind.missing();
      if (missing !== null) {
        result.absent[kind.name] = missing;
        session.say(`skipped: ${kind.name}: ${missing}`);
        session.end(STEPS.length);
        continue;
      }
      try {
        const { steps, moments, marks } = await runSubject(kind, pace, session);
        result.steps.push(...steps);
        result.marks.push(...marks);
        result.timelines.push({ subject: kind.name, moments });
      } catch (error) {
        result.absent[kind.name] = error instanceof Error ? error.message : String(error);
        session.say(`${kind.name}: ${result.absent[kind.name]}`);
      }
    }
    for (const drill of drills) {
      if (session.isStopped) break;
      session.begin(`drill: ${drill}`);
      const { steps, verdict } = await runDrill(drill, { isShort: values.short });
      if (session.isStopped) break;
      result.drills.push(...steps);
      result.verdicts[drill] = verdict;
      session.end(STEPS.length);
    }
  } finally {
    session.close();
    const facts = about({ rounds: 1, seconds: pace.troubleMs / 1000 });
    if (result.steps.length + result.drills.length > 0) storeResult('chaos', { about: facts, measured: result }, out);
  }
  const verdicts = Object.entries(result.verdicts).map(([drill, verdict]) => `${drill}: ${verdict}`);
  process.stdout.write(`\n${chaosTable([...result.steps, ...result.drills])}\n\n${chaosScore(result)}\n`);
  for (const line of verdicts) process.stdout.write(`${line}\n`);
  for (const path of writeReport(readResults(out), out)) process.stdout.write(`written: ${path}\n`);
  return Object.values(result.verdicts).every((verdict) => verdict === 'passed') ? 0 : 1;
}

// The guard: fails when a request costs Weir clearly more than in the last release; `npm run bench:guard`, and in CI.
//
// A scenario whose first measurement shows a loss is measured up to twice more, each time with new processes, and is judged
// by the lowest of the three medians: a real loss shows in all of them, a burst of the neighbours does not. The price: of
// a loss just above what is allowed, noise may hide one in three measurements and thereby all. A scenario that could not
// be measured in any of them fails. Once one scenario has failed for good, the guard has; those after it are measured once.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ALLOWED_LOSS_PERCENT, type Baseline, isBaseline, judge, mildest, type Verdict } from './guard/judge.ts';
import { type Effort, GUARDED, type GuardScenario, measureRatios } from './guard/measure-ratios.ts';
import { about } from './report/results.ts';
import { table } from './report/tables.ts';
import { median } from './stats/statistics.ts';
import { LOAD_CORE } from './support/cores.ts';
import { pinSelf } from './support/process.ts';

const PATH = join(import.meta.dirname, 'guard-baseline.json');
const stopping = new AbortController();
const { signal } = stopping;
/** Short: CI has the verdict after one minute, and after some two if every scenario is measured three times. */
const FIRST: Effort = { rounds: 5, seconds: 1, signal };
const AGAIN: Effort = { rounds: 4, seconds: 1, signal };
const REPEATS = 2;
const STORED: Effort = { rounds: 11, seconds: 2, signal };

const { values } = parseArgs({
  options: { store: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});

if (values.help) {
  process.stdout.write(`usage: npm run bench:guard -- [--store]

Measures what a request costs Weir, in units of a calibration loop in the same run, and compares it with
bench/guard-baseline.json; ends with 1 when it costs over ${ALLOWED_LOSS_PERCENT} % more. --store writes that file: at a release.
`);
} else {
  pinSelf(LOAD_CORE);
  // What was started is stopped first.
  const stop = (): void => stopping.abort(new Error('stopped'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.exitCode = values.store ? await store() : await guard();
}

async function store(): Promise<number> {
  const ratios: Record<string, number> = {};
  for (const scenario of GUARDED) {
    const all = await measureRatios(scenario, STORED);
    ratios[scenario.name] = Number(median(all).toFixed(4));
    process.stdout.write(`${scenario.name}: ${all.map((ratio) => ratio.toFixed(2)).join(', ')}\n`);
  }
  const { date, commit, versions } = about({ rounds: STORED.rounds, seconds: STORED.seconds });
  const baseline: Baseline = { version: versions.weir ?? '', commit, date, ratios };
  writeFileSync(PATH, `${JSON.stringify(baseline, null, 2)}\n`);
  process.stdout.write(`written: ${PATH}\n`);
  return 0;
}

async function guard(): Promise<number> {
  const baseline: unknown = JSON.parse(readFileSync(PATH, 'utf8'));
  if (!isBaseline(baseline)) throw new Error(`${PATH} is not a baseline; npm run bench:guard -- --store writes one`);
  const verdicts: Verdict[] = [];
  for (const scenario of GUARDED) {
    const hasFailed = verdicts.some(({ isFailed }) => isFailed);
    verdicts.push(await verdictOn(scenario, baseline, hasFailed ? 0 : REPEATS));
  }
  const rows = verdicts.map(({ scenario, ratio, spreadPercent, baseline: before, lossPercent, isFailed }) => [
    ...[scenario, ratio.toFixed(2), `${spreadPercent.toFixed(0)} %`, before?.toFixed(2) ?? 'none'],
    ...[`${lossPercent >= 0 ? '+' : ''}${lossPercent.toFixed(1)} %`, isFailed ? 'FAILED' : 'ok'],
  ]);
  const head = ['CPU a request, in calibration loops', 'now', '±', `of ${baseline.version}`, 'change', ''];
  process.stdout.write(`${table(head, rows)}\n`);
  const failed = verdicts.filter(({ isFailed }) => isFailed).map(({ scenario }) => scenario);
  if (failed.length === 0) return 0;
  process.stdout.write(`over ${ALLOWED_LOSS_PERCENT} % more than in ${baseline.version}: ${failed.join('; ')}\n`);
  return 1;
}

async function verdictOn(scenario: GuardScenario, baseline: Baseline, repeats: number): Promise<Verdict> {
  let verdict = judge(scenario.name, await ratiosOf(scenario, FIRST), baseline);
  for (let repeat = 1; verdict.isFailed && repeat <= repeats; repeat++) {
    process.stdout.write(`${scenario.name}: ${verdict.lossPercent.toFixed(1)} % more at the least, measured again\n`);
    verdict = mildest([verdict, judge(scenario.name, await ratiosOf(scenario, AGAIN), baseline)]);
  }
  return verdict;
}

/** None where the measurement came to nothing: it is one that failed. */
async function ratiosOf(scenario: GuardScenario, effort: Effort): Promise<readonly number[]> {
  try {
    return await measureRatios(scenario, effort);
  } catch (error) {
    signal.throwIfAborted();
    process.stdout.write(`${scenario.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return [];
  }
}

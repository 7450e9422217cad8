// The guard: fails when a request costs Weir clearly more than in the last release; `npm run bench:guard`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ALLOWED_LOSS_PERCENT, type Baseline, isBaseline, judge, type Verdict } from './guard/judge.ts';
import { type Effort, GUARDED, type GuardScenario, measureRatios } from './guard/measure-ratios.ts';
import { about } from './report/results.ts';
import { table } from './report/tables.ts';
import { median } from './stats/statistics.ts';
import { LOAD_CORE } from './support/cores.ts';
import { pinSelf } from './support/process.ts';

const PATH = join(import.meta.dirname, 'guard-baseline.json');
const stopping = new AbortController();
const { signal } = stopping;
const FIRST: Effort = { rounds: 5, seconds: 2, signal };
/** A scenario that fails is measured once more, for longer: a burst of the neighbours is no loss. */
const SECOND: Effort = { rounds: 4, seconds: 2, signal };
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
  for (const scenario of GUARDED) verdicts.push(await verdictOn(scenario, baseline));
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

async function verdictOn(scenario: GuardScenario, baseline: Baseline): Promise<Verdict> {
  const first = await measureRatios(scenario, FIRST);
  const verdict = judge(scenario.name, first, baseline);
  if (!verdict.isFailed) return verdict;
  return judge(scenario.name, [...first, ...(await measureRatios(scenario, SECOND))], baseline);
}

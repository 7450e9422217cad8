// The results as tables of Markdown.
import { ALL_DOWN, type ChaosResult, type ChaosStep } from '../comparison/chaos-result.ts';
import type { Figures, Measured } from '../stages/figures.ts';
import { costs, type GrowthResult } from '../stages/growth.ts';
import type { OpenLoopResult } from '../stages/open-loop.ts';
import type { ScenarioResult } from '../stages/throughput.ts';
import { fitPower } from '../stats/power-fit.ts';
import { median, medianRatio, spreadPercent } from '../stats/statistics.ts';
import { valueAt } from '../support/client-task.ts';

/** A table; cells are escaped. The first column is text, the others are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  const rule = `|${head.map((_, at) => (at === 0 ? '---' : '---:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function escapeCell(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll(/\s*\n\s*/g, ' ');
}

/** Each scenario as one block of rows, in one table. */
export function throughputTables(scenarios: readonly ScenarioResult[]): string {
  const head = [
    'scenario',
    'gateway',
    'requests/s',
    '±',
    'CPU µs a request',
    '±',
    'CPU : Weir',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'RSS MiB',
    'errors',
  ];
  return table(
    head,
    scenarios.flatMap((scenario) => scenario.peers.map((measured) => throughputRow(scenario, measured))),
  );
}

function throughputRow(scenario: ScenarioResult, { peer, samples, absent }: Measured): readonly string[] {
  if (samples.length === 0) return [scenario.name, peer, absent ?? 'not measured', ...Array(9).fill('')];
  const all = (field: keyof Figures): readonly number[] => samples.map((sample) => sample[field]);
  const of = (field: keyof Figures, digits: number): string => median(all(field)).toFixed(digits);
  const spread = (field: keyof Figures): string =>
    samples.length < 2 ? '' : `${spreadPercent(all(field)).toFixed(0)} %`;
  const cpu = all('cpuMicroseconds');
  const weirs = scenario.peers.find((each) => each.peer === 'weir')?.samples.map((each) => each.cpuMicroseconds) ?? [];
  const ratio = weirs.length === 0 ? '' : medianRatio(cpu, weirs).toFixed(2);
  const errors = all('errors').reduce((sum, each) => sum + each, 0);
  return [
    ...[scenario.name, peer, of('perSecond', 0), spread('perSecond')],
    ...[of('cpuMicroseconds', 1), spread('cpuMicroseconds'), ratio],
    ...[of('p50Ms', 2), of('p99Ms', 2), of('p999Ms', 2), of('rssMiB', 0), String(errors)],
  ];
}

/** Latency from when requests were due, medians of the rounds, with what a count from the sending would have hidden. */
export function openLoopTable({ peers, capacities }: OpenLoopResult): string {
  const head = [
    'gateway',
    'capacity/s',
    'p50 ms',
    'p90 ms',
    'p99 ms',
    'p99.9 ms',
    'most ms',
    'p99 from sending, ms',
    'errors',
    'unanswered',
  ];
  const rows = peers
    .filter(({ rounds }) => rounds.length > 0)
    .map(({ peer, rounds }) => [
      peer,
      String(capacities[peer] ?? ''),
      ...[50, 90, 99, 99.9, 100].map((at) => median(rounds.map(({ curve }) => valueAt(curve, at))).toFixed(2)),
      median(rounds.map(({ fromSendCurve = [] }) => valueAt(fromSendCurve, 99))).toFixed(2),
      String(rounds.reduce((sum, { errors }) => sum + errors, 0)),
      String(rounds.reduce((sum, { unanswered = 0 }) => sum + unanswered, 0)),
    ]);
  return table(head, rows);
}

export function growthTable(growth: readonly GrowthResult[]): string {
  const rows = growth.map((result) => {
    const points = costs(result);
    const { exponent, rSquared } = fitPower(points);
    const [first, last] = [points[0], points.at(-1)];
    const each = points.map(({ size, cost }) => `${size}: ${cost.toFixed(1)}`).join(', ');
    const factor = first === undefined || last === undefined ? '' : (last.cost / first.cost).toFixed(2);
    return [result.of, each, factor, exponent.toFixed(3), rSquared.toFixed(2)];
  });
  return table(['growth with', 'size: CPU µs a request', 'last : first', 'slope (log-log)', 'R²'], rows);
}

export function chaosTable(steps: readonly ChaosStep[]): string {
  const rows = steps.map(({ step, subject, requests, failed, degraded, extraAttempts, slowestMs }) => [
    ...[step, subject, String(requests), String(failed), String(degraded)],
    ...[extraAttempts === null ? '' : String(extraAttempts), String(slowestMs)],
  ]);
  return table(['step', 'gateway', 'requests', 'failed', 'degraded', 'extra attempts', 'slowest ms'], rows);
}

/** The sums over all steps, a line for each subject: the score. */
export function chaosScore({ steps }: ChaosResult): string {
  const subjects = [...new Set(steps.map(({ subject }) => subject))];
  const rows = subjects.map((subject) => {
    const own = steps.filter((step) => step.subject === subject);
    const withAny = own.filter(({ step }) => step !== ALL_DOWN);
    const withNone = own.filter(({ step }) => step === ALL_DOWN);
    const [requests, failed] = [sumOf(withAny, 'requests'), sumOf(withAny, 'failed')];
    const share = requests === 0 ? '' : ((failed / requests) * 100).toFixed(3);
    const down = `${sumOf(withNone, 'failed')} of ${sumOf(withNone, 'requests')}`;
    const slowest = Math.max(...own.map((step) => step.slowestMs));
    return [subject, String(requests), String(failed), share, down, String(sumOf(own, 'degraded')), String(slowest)];
  });
  const head = ['gateway', 'requests', 'failed', 'failed %', 'failed while all were down', 'degraded', 'slowest ms'];
  return table(head, rows);
}

function sumOf(steps: readonly ChaosStep[], field: 'requests' | 'failed' | 'degraded'): number {
  return steps.reduce((total, step) => total + step[field], 0);
}

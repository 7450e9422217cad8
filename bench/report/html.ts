// The report as one page of HTML without anything from outside.
import type { ChaosResult } from '../comparison/chaos-result.ts';
import { costs, type GrowthResult } from '../stages/growth.ts';
import type { OpenLoopResult } from '../stages/open-loop.ts';
import type { ScenarioResult } from '../stages/throughput.ts';
import { fitPower } from '../stats/power-fit.ts';
import { median, spreadPercent } from '../stats/statistics.ts';
import { valueAt } from '../support/client-task.ts';
import { aboutLine } from './markdown.ts';
import type { Results } from './results.ts';
import { STYLE } from './style.ts';
import { barChart, escapeHtml, plot } from './svg.ts';
import { chaosScore, chaosTable, growthTable, openLoopTable, throughputTables } from './tables.ts';

/** Colours of the style sheet. */
const [AMBER, RED] = [2, 4];

/** The whole page. */
export function renderHtml({ throughput, openLoop, growth, chaos }: Results): string {
  const sections = [
    throughput === undefined
      ? ''
      : section('Throughput', aboutLine(throughput.about), throughputPart(throughput.measured)),
    openLoop === undefined
      ? ''
      : section('Latency at a fixed arrival rate', aboutLine(openLoop.about), openLoopPart(openLoop.measured)),
    growth === undefined ? '' : section('Growth', aboutLine(growth.about), growthPart(growth.measured)),
    chaos === undefined ? '' : section('Chaos', aboutLine(chaos.about), chaosPart(chaos.measured)),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Weir: benchmarks</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Weir: benchmarks</h1>
<p>Each gateway alone on one core, load and upstream on the other. Read ratios within a run, not times between runs.</p>
${sections.join('\n')}
</body>
</html>
`;
}

function section(title: string, about: string, content: string): string {
  return `<section>\n<h2>${title}</h2>\n<p class="about">${escapeHtml(about)}</p>\n${content}\n</section>`;
}

function throughputPart(scenarios: readonly ScenarioResult[]): string {
  const charts = scenarios.map(({ name, peers }) => {
    const measured = peers.filter(({ samples }) => samples.length > 0);
    const bars = (field: 'perSecond' | 'cpuMicroseconds') =>
      measured.map(({ peer, samples }) => {
        const values = samples.map((sample) => sample[field]);
        const value = median(values);
        return { name: peer, value, spread: (value * spreadPercent(values)) / 100 };
      });
    return `<h3>${escapeHtml(name)}</h3>\n<div class="pair">${barChart('requests a second', '/s', bars('perSecond'))}
${barChart('CPU µs a request (less is better)', 'µs', bars('cpuMicroseconds'))}</div>`;
  });
  return `${charts.join('\n')}\n${folded('All figures', htmlTable(throughputTables(scenarios)))}`;
}

function openLoopPart(result: OpenLoopResult): string {
  const series = result.peers
    .filter(({ rounds }) => rounds.length > 0)
    .map(({ peer, rounds }) => {
      const percentiles = rounds[0]?.curve.map(([at]) => at).filter((at) => at < 100) ?? [];
      // 1 in so many requests is slower: the usual axis of percentile plots.
      const points = percentiles.map(
        (at) => [100 / (100 - at), median(rounds.map(({ curve }) => valueAt(curve, at)))] as const,
      );
      return { name: peer, points };
    });
  const chart = plot(series, {
    title: `${result.perSecond} requests a second`,
    xLabel: 'percentile',
    yLabel: 'ms from when the request was due',
    isLogX: true,
    isLogY: true,
    xTicks: [1, 2, 10, 100, 1000, 10_000],
    xTick: (value) => String(Number((100 - 100 / value).toFixed(2))),
  });
  return `${chart}\n${htmlTable(openLoopTable(result))}`;
}

function growthPart(growth: readonly GrowthResult[]): string {
  const charts = growth.map((result) => {
    const points = costs(result);
    const { exponent, factor, rSquared } = fitPower(points);
    const fitted = [points[0], points.at(-1)].flatMap((point) =>
      point === undefined ? [] : [[point.size, factor * point.size ** exponent] as const],
    );
    const measured = points.map(({ size, cost }) => [size, cost] as const);
    return plot(
      [
        { name: 'measured', points: measured, isScatter: true },
        { name: `fitted: slope ${exponent.toFixed(3)}, R² ${rSquared.toFixed(2)}`, points: fitted },
      ],
      { title: result.of, xLabel: result.of, yLabel: 'CPU µs a request', isLogX: true, isLogY: true },
    );
  });
  return `<div class="pair">${charts.map((chart) => `<div>${chart}</div>`).join('\n')}</div>\n${htmlTable(growthTable(growth))}`;
}

function chaosPart(chaos: ChaosResult): string {
  const charts = chaos.timelines.map(({ subject, moments }) => {
    const seconds = (of: 'failed' | 'degraded') => moments.map((moment) => [moment.atMs / 1000, moment[of]] as const);
    const spans = chaos.marks
      .filter((mark) => mark.subject === subject)
      .map(({ step, fromMs, toMs }) => ({ from: fromMs / 1000, to: toMs / 1000, name: step }));
    return plot(
      [
        { name: 'failed', points: seconds('failed'), colour: RED },
        { name: 'degraded', points: seconds('degraded'), colour: AMBER },
      ],
      { title: subject, xLabel: 'seconds', yLabel: 'requests in each slice of time', spans },
    );
  });
  const first = chaos.timelines[0]?.subject;
  const names = chaos.marks
    .filter(({ subject }) => subject === first)
    .map(({ step }) => `<li>${escapeHtml(step)}</li>`);
  const verdicts = Object.entries(chaos.verdicts).map(
    ([drill, verdict]) => `<li>${escapeHtml(`${drill}: ${verdict}`)}</li>`,
  );
  return `${htmlTable(chaosScore(chaos))}\n<p>The steps, as numbered in the plots:</p><ol>${names.join('')}</ol>\n${charts.join('\n')}
${htmlTable(chaosTable(chaos.steps))}\n<h3>Weir’s own drills</h3><ul>${verdicts.join('')}</ul>\n${htmlTable(chaosTable(chaos.drills))}`;
}

function folded(title: string, content: string): string {
  return `<details><summary>${title}</summary>${content}</details>`;
}

/** A table of Markdown, as `table()` writes it, as one of HTML; its cells are escaped anew. */
export function htmlTable(markdown: string): string {
  const [head = '', , ...rows] = markdown.split('\n');
  const cells = (line: string): readonly string[] =>
    line
      .slice(2, -2)
      .split(/(?<!\\) \| /)
      .map(plain);
  const row = (line: string, tag: string): string =>
    `<tr>${cells(line)
      .map((cell) => `<${tag}>${cell}</${tag}>`)
      .join('')}</tr>`;
  return `<div class="wide"><table><thead>${row(head, 'th')}</thead><tbody>${rows.map((line) => row(line, 'td')).join('')}</tbody></table></div>`;
}

function plain(cell: string): string {
  return escapeHtml(cell.replaceAll('\\|', '|').replaceAll('\\\\', '\\').replaceAll('&lt;', '<'));
}

// The figures that panels show: selections of the metrics, and panels made of them in one line.
import type { Panel, Query, Steps } from './grafana-panels.ts';

/** What the variables of the dashboard select. */
export const GATEWAY = 'job=~"$job", instance=~"$instance"';
export const ROUTE = `${GATEWAY}, route=~"$route"`;
export const SERVICE = `${GATEWAY}, service=~"$service"`;

/** Colours of a figure that should be 0. */
export const ZERO: Steps = [
  [null, 'green'],
  [1, 'red'],
];
/** The same where it can wait for the morning. */
export const NEARLY_ZERO: Steps = [
  [null, 'green'],
  [1, 'orange'],
];
/** Colours of a share of answers that should not be. */
export const SHARE: Steps = [
  [null, 'green'],
  [0.01, 'orange'],
  [0.05, 'red'],
];
/** Colours of seconds that a client waits. */
export const WAIT: Steps = [
  [null, 'green'],
  [0.5, 'orange'],
  [2.5, 'red'],
];

/** How much a counter grows a second. */
export function rate(metric: string, selection: string): string {
  return `rate(${metric}{${selection}}[$__rate_interval])`;
}

/** One curve for each value of a label. */
export function by(label: string, expr: string): Query {
  return { expr: `sum by (${label}) (${expr})`, legend: `{{${label}}}` };
}

/** A percentile of a histogram, over all of it or for each value of a label. */
export function percentile(percent: number, histogram: string, selection: string, label?: string): Query {
  const labels = label === undefined ? 'le' : `${label}, le`;
  const expr = `histogram_quantile(${percent / 100}, sum by (${labels}) (${rate(`${histogram}_bucket`, selection)}))`;
  return { expr, legend: label === undefined ? `p${percent}` : `{{${label}}}` };
}

/** The percentiles that tell a distribution. */
export function percentiles(histogram: string, selection: string): Query[] {
  return [50, 90, 99].map((percent) => percentile(percent, histogram, selection));
}

type Named = Pick<Panel, 'title' | 'meaning' | 'unit'>;

/** One figure, with its colour. */
export function stat({ expr, ...panel }: Named & { readonly expr: string; readonly steps?: Steps }): Panel {
  return { ...panel, kind: 'stat', width: 3, queries: [{ expr, legend: panel.title }] };
}

/** Curves over time, three panels side by side unless `width` says otherwise. */
export function curves(
  panel: Named & Pick<Panel, 'queries' | 'steps' | 'isStacked'> & { readonly width?: number },
): Panel {
  return { width: 8, ...panel, kind: 'timeseries' };
}

/** What something was, when. */
export function timeline(panel: Named & Pick<Panel, 'queries' | 'names'>): Panel {
  return { ...panel, kind: 'state-timeline', width: 8 };
}

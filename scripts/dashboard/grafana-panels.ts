// What the panels of the Grafana dashboard are made of: figures, curves, states over time, and where they stand.

/** One query of a panel; the legend may use labels, like {{route}}. */
export interface Query {
  readonly expr: string;
  readonly legend?: string;
}

/** Colours, each from a value on; the first has none (null). */
export type Steps = readonly (readonly [number | null, string])[];

/** What a panel shows. */
export interface Panel {
  readonly kind: 'stat' | 'timeseries' | 'state-timeline' | 'heatmap';
  readonly title: string;
  /** What the panel means, and what to think of when it looks bad. */
  readonly meaning: string;
  /** A unit of Grafana, such as s, reqps, percentunit. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Columns of 24. */
  readonly width: number;
  /** Default: green. */
  readonly steps?: Steps;
  /** Whether the curves are stacked. */
  readonly isStacked?: boolean;
  /** Texts and colours for values. */
  readonly names?: Readonly<Record<string, readonly [text: string, color: string]>>;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const COLUMNS = 24;
const HEIGHTS = { stat: 4, timeseries: 8, 'state-timeline': 8, heatmap: 8 } as const;

/** The data source that the dashboard's first variable names. */
export const DATA_SOURCE = { type: 'prometheus', uid: `\${datasource}` } as const;

/** The panels of all rows as Grafana has them, each at its place, with ids counted from 1. */
export function placed(rows: readonly Row[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: ofRow } of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of ofRow) {
      if (x + panel.width > COLUMNS) {
        y += height;
        [x, height] = [0, 0];
      }
      const h = HEIGHTS[panel.kind];
      panels.push(grafanaPanel(panel, { id: panels.length + 1, gridPos: { x, y, w: panel.width, h } }));
      x += panel.width;
      height = Math.max(height, h);
    }
    y += height;
  }
  return panels;
}

function grafanaPanel(panel: Panel, place: { readonly id: number; readonly gridPos: object }): object {
  return {
    ...place,
    type: panel.kind,
    title: panel.title,
    description: panel.meaning,
    datasource: DATA_SOURCE,
    fieldConfig: { defaults: { unit: panel.unit, min: 0, ...look(panel) }, overrides: [] },
    options: OPTIONS[panel.kind],
    targets: panel.queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource: DATA_SOURCE,
      editorMode: 'code',
      expr,
      legendFormat: legend ?? '__auto',
      range: true,
      ...(panel.kind === 'heatmap' && { format: 'heatmap' }),
    })),
  };
}

function look({ kind, steps = [[null, 'green']], isStacked = false, names }: Panel): object {
  const isCurve = kind === 'timeseries';
  return {
    color: { mode: isCurve ? 'palette-classic' : 'thresholds' },
    thresholds: { mode: 'absolute', steps: steps.map(([value, color]) => ({ value, color })) },
    ...(names !== undefined && { mappings: [{ type: 'value', options: mappings(names) }] }),
    ...(isCurve && { custom: curve(isStacked, steps.length > 1) }),
    ...(kind === 'state-timeline' && { custom: { fillOpacity: 80, lineWidth: 0 } }),
  };
}

function curve(isStacked: boolean, hasThresholds: boolean): object {
  return {
    drawStyle: 'line',
    lineInterpolation: 'linear',
    lineWidth: 1,
    fillOpacity: isStacked ? 40 : 5,
    showPoints: 'never',
    spanNulls: false,
    stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
    thresholdsStyle: { mode: hasThresholds ? 'dashed' : 'off' },
  };
}

function mappings(names: Readonly<Record<string, readonly [string, string]>>): object {
  return Object.fromEntries(
    Object.entries(names).map(([value, [text, color]], index) => [value, { index, text, color }]),
  );
}

const LEGEND = { showLegend: true, displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] } as const;
const TOOLTIP = { mode: 'multi', sort: 'desc' } as const;

const OPTIONS: Readonly<Record<Panel['kind'], object>> = {
  stat: {
    colorMode: 'background',
    graphMode: 'area',
    justifyMode: 'auto',
    textMode: 'auto',
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
  },
  timeseries: { legend: LEGEND, tooltip: TOOLTIP },
  'state-timeline': {
    mergeValues: true,
    showValue: 'auto',
    alignValue: 'left',
    rowHeight: 0.9,
    legend: { ...LEGEND, displayMode: 'list', showLegend: false },
    tooltip: { mode: 'single' },
  },
  heatmap: {
    calculate: false,
    cellGap: 1,
    cellValues: { unit: 'reqps' },
    color: { mode: 'scheme', scheme: 'Turbo', steps: 64, scale: 'exponential', exponent: 0.5, reverse: false },
    exemplars: { color: 'rgba(255,0,255,0.7)' },
    filterValues: { le: 1e-9 },
    showValue: 'never',
    yAxis: { unit: 's', axisPlacement: 'left' },
    legend: { show: true },
    tooltip: { mode: 'single', yHistogram: true },
  },
};

// The Grafana dashboard: generated, committed, and about metrics that there are.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { grafanaDashboard } from '../../../scripts/dashboard/dashboard.ts';
import { faultsOf, knownSeries } from '../../support/known-metrics.ts';
import { readPromql } from '../../support/promql.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

const text = await readFile(new URL('../../../config/grafana-dashboard.json', import.meta.url), 'utf8');
const dashboard: Dashboard = JSON.parse(text);
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const known = knownSeries();

describe('the Grafana dashboard', () => {
  it('is committed as scripts/generate-dashboard.ts writes it', () => {
    expect(dashboard).toEqual(grafanaDashboard());
  });

  it('has a row for each subject', () => {
    expect(dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'At a glance',
      'Traffic',
      'Latency',
      'Errors and retries',
      'Endpoints, ejections, breakers',
      'Degraded',
      'Discovery',
      'Limits',
      'TLS',
      'Process',
    ]);
  });

  it.each(panels.map((panel) => [panel.title, panel] as const))(
    '%s: asks for metrics and labels that there are',
    (_title, panel) => {
      const exprs = (panel.targets ?? []).map(({ expr }) => expr);
      expect(exprs.length).toBeGreaterThan(0);
      expect(exprs.flatMap((expr) => faultsOf(expr, known))).toEqual([]);
    },
  );

  it('has a legend only of labels that the query keeps', () => {
    for (const { targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        const { grouping, selections } = readPromql(expr);
        const kept = grouping.length > 0 ? grouping : selections.flatMap(({ metric }) => known.get(metric) ?? []);
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(kept).toContain(label);
      }
    }
  });

  it('tells of every panel its unit, its meaning and the data source that a variable selects', () => {
    for (const panel of panels) {
      expect([panel.title, panel.fieldConfig?.defaults.unit]).not.toContain(undefined);
      expect(panel.description?.endsWith('.')).toBe(true);
      expect(panel.datasource?.uid).toBe(`\${datasource}`);
    }
  });

  it('marks reloads and dead workers, by metrics that there are', () => {
    expect(dashboard.annotations.list.flatMap(({ expr }) => faultsOf(expr, known))).toEqual([]);
  });

  it('uses the variables that it has, and no others', () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    const used = [...text.matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name);
    expect([...new Set(used)].toSorted()).toEqual(names.toSorted());
    for (const { definition } of dashboard.templating.list.slice(1)) {
      const [, metric = '', label = ''] = /^label_values\((\w+).*, (\w+)\)$/.exec(definition ?? '') ?? [];
      expect(known.get(metric)).toContain(label);
    }
  });

  it('lets no two panels overlap, and none leave the grid', () => {
    const taken = new Set<string>();
    for (const { gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`)).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it('shows every metric of the gateway', () => {
    const shown = new Set(
      panels
        .flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => readPromql(expr).selections))
        .map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, '')),
    );
    const weir = [...known.keys()]
      .filter((name) => name.startsWith('weir_'))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    expect(weir.filter((name) => !shown.has(name))).toEqual([]);
  });
});

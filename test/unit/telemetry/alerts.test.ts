// The alerting rules: whole, and about metrics that there are.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { faultsOf, knownSeries } from '../../support/known-metrics.ts';
import { readPromql } from '../../support/promql.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

const file = new URL('../../../config/alerts.yaml', import.meta.url);
const { groups }: { groups: { name: string; rules: Rule[] }[] } = parse(await readFile(file, 'utf8'));
const rules = groups.flatMap(({ rules }) => rules);
const known = knownSeries();

describe('the alerting rules', () => {
  it('have names of their own', () => {
    expect(rules.length).toBeGreaterThan(15);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s: asks for metrics and labels that there are',
    (_name, rule) => {
      expect(faultsOf(rule.expr, known)).toEqual([]);
    },
  );

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s: has a time, a severity, a summary and what to do',
    (_name, rule) => {
      expect(Object.keys(rule)).toEqual(['alert', 'expr', 'for', 'labels', 'annotations']);
      expect(rule.alert).toMatch(/^Weir[A-Z][A-Za-z]+$/);
      expect(rule.for).toMatch(/^\d+m$/);
      expect(['critical', 'warning']).toContain(rule.labels.severity);
      expect(rule.annotations.summary).toMatch(/^\S.{20,140}$/);
      expect(rule.annotations.action.length).toBeGreaterThan(80);
    },
  );

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s: writes only labels that its expression keeps',
    (_name, rule) => {
      // What stands before `and` gives the labels, what follows it only lets through.
      const { grouping, selections } = readPromql(rule.expr.split(/\band\b/)[0] ?? '');
      const kept = grouping.length > 0 ? grouping : selections.flatMap(({ metric }) => known.get(metric) ?? []);
      for (const [, label = ''] of rule.annotations.summary.matchAll(/\$labels\.(\w+)/g)) expect(kept).toContain(label);
    },
  );
});

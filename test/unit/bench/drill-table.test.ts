// Reading the tables that drills print.
import { describe, expect, it } from 'vitest';
import { stepsIn } from '../../../bench/comparison/drill-table.ts';

describe('stepsIn', () => {
  it('reads the columns by their names, wherever they are', () => {
    const text = `before
| step | s | requests | failed | truncated | degraded | extra attempts | slowest ms | out ms |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
| one is killed | 12 | 1,234 | 1 | 2 | 3 | 4 | 56 | 78 |
drill passed`;
    expect(stepsIn(text, 'weir')).toEqual([
      {
        subject: 'weir',
        step: 'one is killed',
        requests: 1234,
        failed: 3,
        degraded: 3,
        extraAttempts: 4,
        slowestMs: 56,
      },
    ]);
  });

  it('leaves open what a table has no column for', () => {
    const text = '| step | requests | failed | slowest ms |\n|---|---:|---:|---:|\n| away | 10 | 0 | 5 |';
    expect(stepsIn(text, 'weir')).toMatchObject([{ degraded: 0, extraAttempts: null, slowestMs: 5 }]);
  });

  it('tells several tables apart by the line before each', () => {
    const table = '| step | requests | failed |\n|---|---:|---:|\n| away | 10 | 0 |\n';
    const steps = stepsIn(`\nConsul\n\n${table}\nregistry\n\n${table}`, 'weir, drill');
    expect(steps.map(({ subject }) => subject)).toEqual(['weir, drill (Consul)', 'weir, drill (registry)']);
  });

  it('finds nothing in other tables and other text', () => {
    expect(stepsIn('| size | ns |\n|---|---|\n| 10 | 20 |\nno table', 'weir')).toEqual([]);
  });
});

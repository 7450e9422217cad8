import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crossProblems } from '../../../gateway/config/cross-checks.ts';
import { type InForce, planReload } from '../../../gateway/config/reload.ts';
import { findConflicts } from '../../../gateway/routing/conflicts.ts';
import { inForceFrom, loadedFrom } from './loading.ts';

const NAMES = ['a.yaml', 'a.yml', 'b.yaml', 'c.yaml', 'd.yaml'];

/** What may stand in a file: few services, paths and policies, so that they meet; now and then nothing valid. */
const text = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('service: [', 'service: s\nx: 1', '') },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom('s', 't'),
        fc.uniqueArray(fc.constantFrom('/1', '/2', '/3', '/4'), { minLength: 1, maxLength: 2 }),
        fc.constantFrom('', 'ejection: { base: 9s }', 'source: registry', 'breaker: { open: 9s }'),
      )
      .map(([service, paths, more]) => `service: ${service}\nmatch: [{ paths: [${paths.join(', ')}] }]\n${more}`),
  },
);

/** The files of a folder at one time. */
const folder = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), text), { selector: ([name]) => name, maxLength: NAMES.length })
  .map((entries) => Object.fromEntries(entries));

describe('a row of reloads', () => {
  it('never puts files in force that do not go together, and each is as it is now or as it was when it was good', () => {
    fc.assert(
      fc.property(fc.array(folder, { minLength: 1, maxLength: 5 }), (folders) => {
        let inForce: InForce = inForceFrom({ routes: {} });
        for (const routes of folders) {
          const now = loadedFrom({ routes });
          const plan = planReload(inForce, now, findConflicts);
          check(inForce, now, plan);
          inForce = plan;
        }
      }),
      { numRuns: 200 },
    );
  });
});

function check(before: InForce, now: ReturnType<typeof loadedFrom>, plan: ReturnType<typeof planReload>): void {
  expect(crossProblems([...plan.routes.values()], findConflicts)).toEqual([]);
  const written = new Map(now.routes.map((route) => [route.document.file, route]));
  const held = plan.quarantined.map(({ file }) => file);
  expect(new Set(held).size).toBe(held.length);
  for (const [file, route] of plan.routes) {
    expect(route.result.ok).toBe(true);
    // A file that is gone takes its route along.
    expect(written.has(file)).toBe(true);
    if (!held.includes(file)) expect(route).toBe(written.get(file));
    else expect(route).toBe(before.routes.get(file));
  }
  for (const file of written.keys()) {
    if (!plan.routes.has(file)) expect(held).toContain(file);
  }
  for (const { file, problems, hasLastGood } of plan.quarantined) {
    expect(problems.length).toBeGreaterThan(0);
    expect(hasLastGood).toBe(plan.routes.has(file));
    expect(written.has(file)).toBe(true);
  }
  // Nothing is held back without a reason: there is another file that it does not go together with.
  for (const wanted of now.routes.filter(({ document, result }) => result.ok && held.includes(document.file))) {
    const others = [...now.routes, ...plan.routes.values()].filter(
      ({ document }) => document.file !== wanted.document.file,
    );
    const isAtOdds = others.some((other) => crossProblems([wanted, other], findConflicts).length > 0);
    expect(isAtOdds, wanted.document.file).toBe(true);
  }
}

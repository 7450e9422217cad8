import { describe, expect, it } from 'vitest';
import { planReload, routesOf } from '../../../gateway/config/reload.ts';
import { findConflicts } from '../../../gateway/routing/conflicts.ts';
import { inForceFrom, loadedFrom, quarantineOf, summaryOf, type Texts } from './loading.ts';

/** A route file with one rule. */
function routeTo(service: string, path: string, more = ''): string {
  return `service: ${service}\nmatch:\n  - paths: [${path}]\n${more}`;
}

/** What a reload makes of files that were `before` when all was well. */
function reload(before: Texts, now: Texts) {
  const plan = planReload(inForceFrom(before), loadedFrom(now), findConflicts);
  return { plan, inForce: summaryOf(plan), quarantined: quarantineOf(plan) };
}

const TWO: Texts = { routes: { 'a.yaml': routeTo('a', '/a'), 'b.yaml': routeTo('b', '/b') } };

describe('a reload', () => {
  it('puts changed and new files in force, and lets those go that are gone', () => {
    const { inForce, quarantined } = reload(TWO, {
      routes: { 'a.yaml': routeTo('a', '/a2'), 'c.yaml': routeTo('c', '/c') },
    });
    expect(inForce).toEqual({ 'a.yaml': 'a /a2', 'c.yaml': 'c /c' });
    expect(quarantined).toEqual([]);
  });

  it('keeps the last good version of an invalid file and applies the others (case 136)', () => {
    const { inForce, quarantined } = reload(TWO, {
      routes: { 'a.yaml': `${routeTo('a', '/a2')}retrys: {}\n`, 'b.yaml': routeTo('b', '/b2') },
    });
    expect(inForce).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b2' });
    expect(quarantined).toEqual([['routes/a.yaml', [expect.stringMatching(/retrys: unknown key.*"retry"/)], true]]);
  });

  it('puts nothing in force for a new file that is invalid', () => {
    const { inForce, quarantined } = reload(TWO, { routes: { ...TWO.routes, 'c.yaml': 'service: [' } });
    expect(inForce).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b' });
    expect(quarantined).toMatchObject([['routes/c.yaml', [expect.stringContaining('not YAML')], false]]);
  });

  it('follows a file that was renamed', () => {
    const { inForce, quarantined } = reload(TWO, {
      routes: { 'b.yaml': routeTo('b', '/b'), 'z.yaml': routeTo('a', '/a') },
    });
    expect(inForce).toEqual({ 'b.yaml': 'b /b', 'z.yaml': 'a /a' });
    expect(quarantined).toEqual([]);
  });

  it('drops an invalid file with its last good version once it is deleted', () => {
    const broken = planReload(inForceFrom(TWO), loadedFrom({ routes: { ...TWO.routes, 'a.yaml': '[' } }), () => []);
    expect(summaryOf(broken)).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b' });
    const { 'a.yaml': _gone, ...rest } = TWO.routes;
    const later = planReload(broken, loadedFrom({ routes: rest }), findConflicts);
    expect(summaryOf(later)).toEqual({ 'b.yaml': 'b /b' });
    expect(later.quarantined).toEqual([]);
  });

  it('keeps every route while their folder cannot be listed', () => {
    const { inForce, quarantined } = reload(TWO, { routes: {}, unlistable: 'no such folder' });
    expect(inForce).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b' });
    expect(quarantined).toEqual([['routes', ['routes:1:1: no such folder'], true]]);
  });

  it('keeps the last good gateway.yaml beside new routes', () => {
    const { plan, inForce, quarantined } = reload(
      { ...TWO, gateway: 'workers: 3' },
      { gateway: 'workers: three', routes: { 'a.yaml': routeTo('a', '/a2') } },
    );
    expect(plan.gateway.workers).toBe(3);
    expect(inForce).toEqual({ 'a.yaml': 'a /a2' });
    expect(quarantined).toEqual([['g.yaml', [expect.stringContaining('workers')], true]]);
  });

  it('gives the routes in the order of their files', () => {
    const { plan } = reload(TWO, {
      routes: { 'c.yaml': routeTo('c', '/c'), 'b.yaml': '[', 'a.yaml': routeTo('a', '/') },
    });
    expect(routesOf(plan).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });
});

describe('files that do not go together', () => {
  it.each([
    ['sorts before', 'b.yaml', '/a', 'a.yaml'],
    ['sorts behind', 'a.yaml', '/b', 'b.yaml'],
  ])('are settled against the changed one when the other %s it', (_how, changed, path, unchanged) => {
    const { inForce, quarantined } = reload(TWO, {
      routes: { ...TWO.routes, [changed]: routeTo('x', path), 'c.yaml': routeTo('c', '/c') },
    });
    expect(inForce).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b', 'c.yaml': 'c /c' });
    expect(quarantined).toEqual([[`routes/${changed}`, [expect.stringContaining('ties with match[0]')], true]]);
    expect(`${quarantined[0]?.[1]}`).toContain(unchanged.slice(0, 1));
  });

  it('and are both new count by the order of their names', () => {
    const { inForce, quarantined } = reload(
      { routes: {} },
      { routes: { 'a.yaml': routeTo('a', '/same'), 'b.yaml': routeTo('b', '/same'), 'c.yaml': routeTo('c', '/c') } },
    );
    expect(inForce).toEqual({ 'a.yaml': 'a /same', 'c.yaml': 'c /c' });
    expect(quarantined).toEqual([['routes/b.yaml', [expect.stringContaining('ties with match[0]')], false]]);
  });

  it('do not take along a third that goes together with what is left', () => {
    // b ties with the unchanged a, and c with what b wanted to be.
    const { inForce, quarantined } = reload(
      { routes: { ...TWO.routes, 'c.yaml': routeTo('c', '/c') } },
      {
        routes: {
          'a.yaml': routeTo('a', '/a'),
          'b.yaml': routeTo('b', '"/a", "/new"'),
          'c.yaml': routeTo('c', '/new'),
        },
      },
    );
    expect(inForce).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b', 'c.yaml': 'c /new' });
    expect(quarantined.map(([file]) => file)).toEqual(['routes/b.yaml']);
  });

  it('count as good when they exchange their paths at once', () => {
    const { inForce, quarantined } = reload(TWO, {
      routes: { 'a.yaml': routeTo('a', '/b'), 'b.yaml': routeTo('b', '/a') },
    });
    expect(inForce).toEqual({ 'a.yaml': 'a /b', 'b.yaml': 'b /a' });
    expect(quarantined).toEqual([]);
  });

  it('because the last good version of an invalid one is still there hold the changed one back', () => {
    const { inForce, quarantined } = reload(TWO, {
      routes: { 'a.yaml': routeTo('a', '/b'), 'b.yaml': 'service: b\nx: 1' },
    });
    expect(inForce).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b' });
    expect(quarantined.map(([file]) => file).toSorted()).toEqual(['routes/a.yaml', 'routes/b.yaml']);
  });

  it.each([
    ['ejection', 'ejection: { consecutiveFailures: 9 }'],
    ['slowStart', 'slowStart: { window: 10s }'],
    ['breaker', 'breaker: { open: 9s }'],
    ['endpoints', 'endpoints: [127.0.0.1:9]'],
    ['source', 'source: registry'],
  ])('are two routes of one service when only one gets another %s, and no longer when both do', (_what, more) => {
    const both = (first: string, second: string): Texts => {
      return { routes: { 'a.yaml': routeTo('s', '/a', first), 'b.yaml': routeTo('s', '/b', second) } };
    };
    for (const [changed, now] of [
      ['routes/a.yaml', both(more, '')],
      ['routes/b.yaml', both('', more)],
    ] as const) {
      const { plan, quarantined } = reload(both('', ''), now);
      expect(quarantined).toEqual([
        [changed, expect.arrayContaining([expect.stringContaining('the same service')]), true],
      ]);
      expect(routesOf(plan)).toEqual(routesOf(inForceFrom(both('', ''))));
    }
    expect(reload(both('', ''), both(more, more)).quarantined).toEqual([]);
  });

  it('are two files with one name', () => {
    const { inForce, quarantined } = reload(TWO, { routes: { ...TWO.routes, 'a.yml': routeTo('x', '/x') } });
    expect(inForce).toEqual({ 'a.yaml': 'a /a', 'b.yaml': 'b /b' });
    expect(quarantined.map(([file]) => file)).toEqual(['routes/a.yml']);
  });
});

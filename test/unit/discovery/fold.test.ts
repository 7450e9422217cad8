import { describe, expect, it } from 'vitest';
import { isStale, type ResumePoint, unasked } from '../../../gateway/core/discovery-update.ts';
import type { Instance } from '../../../gateway/core/instance.ts';
import { foldEvent } from '../../../gateway/discovery/fold.ts';
import { poolMark } from '../../../gateway/discovery/pool-mark.ts';
import type { SourceAnswer, SourceEvent } from '../../../gateway/discovery/source.ts';

const HOLD_MS = 600_000;

function instance(port: number): Instance {
  return { id: `n/i${port}`, host: '10.0.0.1', port, weight: 1, status: 'passing', tags: [], meta: {} };
}

function answer(instances: Instance[], part: Partial<SourceAnswer> = {}): SourceAnswer {
  return { kind: 'answer', instances, skipped: [], notes: [], index: '7', doubt: null, ...part };
}

/** Folds events, each with the second at which it happens. */
function fold(events: readonly (readonly [second: number, event: SourceEvent])[]) {
  let state: ResumePoint = { status: unasked('s', 'consul'), pool: poolMark([]) };
  const changes: (readonly string[] | null)[] = [];
  for (const [second, event] of events) {
    const options = { accept: ['passing'] as const, wallMs: second * 1000, holdLastGoodMs: HOLD_MS };
    const { status, endpoints, pool } = foldEvent(state, event, options);
    changes.push(endpoints?.map(({ key }) => key) ?? null);
    state = { status, pool };
  }
  return { ...state, changes };
}

const A = '10.0.0.1:1';
const failure: SourceEvent = { kind: 'failure', error: 'refused' };
const doubtful = answer([], { doubt: 'no known leader', index: '3' });

describe('a source’s word', () => {
  it('makes the pool', () => {
    const { status, changes } = fold([[1, answer([instance(1)])]]);
    expect(changes).toEqual([[A]]);
    expect(status).toMatchObject({ index: '7', lastSuccessMs: 1000, lastError: null });
  });

  it('that repeats itself changes nothing, but is fresh', () => {
    const { status, changes } = fold([
      [1, answer([instance(1)])],
      [5, answer([instance(1)], { index: '9' })],
    ]);
    expect(changes).toEqual([[A], null]);
    expect(status).toMatchObject({ index: '9', lastSuccessMs: 5000 });
  });

  it('that fails leaves pool, index and age as they were, however often (case 69)', () => {
    const { status, pool, changes } = fold([
      [1, answer([instance(1)])],
      [2, failure],
      [3, failure],
    ]);
    expect(changes).toEqual([[A], null, null]);
    expect(pool.size).toBe(1);
    expect(status).toMatchObject({ index: '7', lastSuccessMs: 1000, lastError: 'refused' });
    expect(isStale(status)).toBe(true);
  });

  it('of emptiness that can be trusted empties the pool', () => {
    expect(
      fold([
        [1, answer([instance(1)])],
        [2, answer([])],
      ]).changes,
    ).toEqual([[A], []]);
  });

  it('of emptiness in doubt is not believed until it has lasted (case 70)', () => {
    const before = fold([
      [1, answer([instance(1)])],
      [2, doubtful],
      [601, doubtful],
    ]);
    expect(before.changes).toEqual([[A], null, null]);
    expect(before.status).toMatchObject({ lastError: 'no known leader', doubtSinceMs: 2000, index: '7' });
    const after = fold([
      [1, answer([instance(1)])],
      [2, doubtful],
      [602, doubtful],
    ]);
    expect(after.changes).toEqual([[A], null, []]);
  });

  it('in doubt that nobody is well leaves the pool, and counts where one is', () => {
    const critical: Instance = { ...instance(1), status: 'critical' };
    const doubt = 'the agent could not be asked a moment ago';
    const { status, changes } = fold([
      [1, answer([instance(1), instance(2)])],
      [2, answer([critical], { doubt })],
      [3, answer([critical, instance(2)], { doubt, index: '9' })],
    ]);
    expect(changes).toEqual([[A, '10.0.0.1:2'], null, [A, '10.0.0.1:2']]);
    expect(status).toMatchObject({ index: '9', lastError: null, doubtSinceMs: null });
  });

  it('in doubt begins its time anew after a good answer', () => {
    const { changes } = fold([
      [1, answer([instance(1)])],
      [2, doubtful],
      [500, answer([instance(1)])],
      [700, doubtful],
    ]);
    expect(changes).toEqual([[A], null, null, null]);
  });

  it('of emptiness in doubt about a pool that was never filled is the truth', () => {
    const { status, pool } = fold([[1, doubtful]]);
    expect(pool.size).toBe(0);
    expect(isStale(status)).toBe(false);
  });
});

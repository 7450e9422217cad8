import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reconcile } from '../../../gateway/pool/reconcile.ts';
import type { EndpointSnapshot } from '../../../gateway/pool/snapshot.ts';
import { createEndpointCellSource } from '../../../gateway/shared/endpoint-cell.ts';
import { endpoint } from '../../support/endpoints.ts';

const cell = createEndpointCellSource(1, 1)();

function snapshotOf(id: number): EndpointSnapshot {
  return { ...endpoint(id), id, cell };
}

describe('reconciling a pool with a snapshot', () => {
  it('tells who came, who stays with what facts, and who is gone', () => {
    const held = [{ id: 1 }, { id: 2 }, { id: 3 }];
    const { added, kept, gone } = reconcile(held, [4, 2, 1].map(snapshotOf));
    expect(added.map(({ id }) => id)).toEqual([4]);
    expect(kept).toEqual([
      { held: held[0], facts: snapshotOf(1) },
      { held: held[1], facts: snapshotOf(2) },
    ]);
    expect(gone).toEqual([held[2]]);
  });

  it('takes another instance on the same address for another endpoint', () => {
    const { added, gone } = reconcile([{ id: 1 }], [{ ...snapshotOf(1), id: 2 }]);
    expect([added.map(({ id, key }) => [id, key]), gone]).toEqual([[[2, '127.0.0.1:1']], [{ id: 1 }]]);
  });

  it('forgets nobody and counts nobody twice', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 30 }));
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const { added, kept, gone } = reconcile(
          before.map((id) => ({ id })),
          after.map(snapshotOf),
        );
        const sorted = (all: readonly { id: number }[]) => all.map(({ id }) => id).toSorted((a, b) => a - b);
        const stayed = kept.map(({ held }) => held);
        expect(sorted([...stayed, ...gone])).toEqual(sorted(before.map((id) => ({ id }))));
        expect(sorted([...stayed, ...added])).toEqual(sorted(after.map((id) => ({ id }))));
        for (const { held, facts } of kept) expect(held.id).toBe(facts.id);
      }),
    );
  });
});

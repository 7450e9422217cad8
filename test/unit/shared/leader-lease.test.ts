import { describe, expect, it } from 'vitest';
import { claimLease, currentLeader, LEASE_MS, releaseLease } from '../../../gateway/shared/leader-lease.ts';

function words(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(64));
}

describe('the leader lease', () => {
  it('is held by nobody at first', () => {
    expect(currentLeader(words())).toEqual({ worker: 0, term: 0 });
  });

  it('goes to the first who claims it and stays while it is renewed', () => {
    const lease = words();
    expect(claimLease(lease, 2, 0)).toBe(1);
    for (let now = 250; now < 60_000; now += 250) {
      expect(claimLease(lease, 2, now)).toBe(1);
      expect(claimLease(lease, 1, now)).toBe(0);
    }
    expect(currentLeader(lease)).toEqual({ worker: 2, term: 1 });
  });

  it('goes to another with a higher term when its holder stalls', () => {
    const lease = words();
    claimLease(lease, 1, 0);
    expect(claimLease(lease, 2, LEASE_MS)).toBe(0);
    expect(claimLease(lease, 2, LEASE_MS + 1)).toBe(2);
    expect(claimLease(lease, 3, LEASE_MS + 1)).toBe(0);
    expect(claimLease(lease, 1, LEASE_MS + 2)).toBe(0);
    expect(currentLeader(lease)).toEqual({ worker: 2, term: 2 });
  });

  it('is free at once when it is given back, and the term still grows', () => {
    const lease = words();
    claimLease(lease, 1, 0);
    releaseLease(lease, 2);
    expect(currentLeader(lease).worker).toBe(1);
    releaseLease(lease, 1);
    expect(currentLeader(lease)).toEqual({ worker: 0, term: 1 });
    expect(claimLease(lease, 3, 1)).toBe(2);
  });

  it('stays right when the 32-bit time wraps after 24 days', () => {
    const lease = words();
    const wrap = 2 ** 31;
    claimLease(lease, 1, wrap - 100);
    expect(claimLease(lease, 2, wrap + 1000)).toBe(0);
    expect(claimLease(lease, 1, wrap + 1000)).toBe(1);
    expect(claimLease(lease, 2, wrap + 1000 + LEASE_MS + 1)).toBe(2);
  });
});

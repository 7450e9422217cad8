import { describe, expect, it } from 'vitest';
import { allocateEndpointCell, EndpointCell } from '../../../gateway/shared/endpoint-cell.ts';

/** Two workers and a reader look at the same endpoint. */
function views() {
  const buffer = allocateEndpointCell(2);
  return { one: new EndpointCell(buffer, 0), two: new EndpointCell(buffer, 1), reader: new EndpointCell(buffer, -1) };
}

describe('an endpoint in shared memory', () => {
  it('is active at first', () => {
    const { reader } = views();
    expect(reader.isActive()).toBe(true);
    expect(reader.traffic()).toEqual({ state: 'active' });
    expect(reader.latencyMs(2)).toBeNull();
  });

  it('counts failures in a row over all workers', () => {
    const { one, two } = views();
    expect([one.countFailure(), two.countFailure(), one.countFailure()]).toEqual([1, 2, 3]);
    two.countSuccess();
    expect(one.countFailure()).toBe(1);
  });

  it('is set aside for all workers at once, with its reason', () => {
    const { one, two, reader } = views();
    expect(one.eject(5000, 'connection_refused', 5)).toBe(true);
    expect(two.isActive()).toBe(false);
    expect(two.eject(9000, 'status', 6)).toBe(false);
    expect(reader.traffic()).toEqual({ state: 'ejected', untilMs: 5000 });
    expect(reader.ejection()).toEqual({ why: 'connection_refused', failures: 5, count: 1 });
  });

  it('lets exactly one worker probe, and only when its time is over', () => {
    const { one, two, reader } = views();
    one.eject(5000, 'status', 5);
    expect(one.beginProbe(4999)).toBe(false);
    expect([one.beginProbe(5000), two.beginProbe(5000), one.beginProbe(6000)]).toEqual([true, false, false]);
    expect(reader.traffic()).toEqual({ state: 'probing' });
  });

  it('is active again after a good probe', () => {
    const { one, two } = views();
    one.eject(5000, 'status', 5);
    two.beginProbe(5000);
    two.probeSucceeded(5100);
    expect(one.isActive()).toBe(true);
    expect(one.backoff().returnedAtMs).toBe(5100);
    expect(one.countFailure()).toBe(1);
  });

  it('is ejected again after a bad probe, and counts that', () => {
    const { one, two, reader } = views();
    one.eject(5000, 'status', 5);
    two.beginProbe(5000);
    two.probeFailed(15_000, 'connection_timeout');
    expect(reader.traffic()).toEqual({ state: 'ejected', untilMs: 15_000 });
    expect(reader.ejection()).toMatchObject({ why: 'connection_timeout', count: 2 });
  });

  it('is not brought back by another worker than the one that probes', () => {
    const { one, two } = views();
    one.eject(5000, 'status', 5);
    one.beginProbe(5000);
    two.probeSucceeded(5000);
    two.probeFailed(9000, 'status');
    expect(one.traffic()).toEqual({ state: 'probing' });
  });

  it('may be probed again when a probe ended without a verdict or its worker died', () => {
    const { one, two, reader } = views();
    one.eject(5000, 'status', 5);
    one.beginProbe(5000);
    one.probeAbandoned(5000);
    expect(two.beginProbe(5000)).toBe(true);
    reader.abandonLane(1, 5000);
    expect(one.beginProbe(5000)).toBe(true);
  });

  it('adds up what the workers count, and forgets what a dead one had under way', () => {
    const { one, two, reader } = views();
    for (const cell of [one, one, two]) cell.requestStarted();
    one.requestEnded('success');
    expect([reader.inFlight(), reader.outcomes('success')]).toEqual([2, 1]);
    reader.abandonLane(0, 0);
    expect([reader.inFlight(), reader.outcomes('success')]).toEqual([1, 1]);
    two.requestEnded('status');
    expect([reader.inFlight(), reader.outcomes('status')]).toEqual([0, 1]);
  });

  it('averages the latency over the workers that saw one', () => {
    const { one, two, reader } = views();
    one.latencySeen(10);
    expect(reader.latencyMs(2)).toBe(10);
    two.latencySeen(30);
    expect(reader.latencyMs(2)).toBe(20);
    one.latencySeen(20);
    expect(reader.latencyMs(2)).toBe(20.5);
  });

  it('takes an ejection back that was one too many', () => {
    const { one, reader } = views();
    one.eject(5000, 'status', 5);
    one.undoEjection(5000);
    expect(reader.isActive()).toBe(true);
    expect(reader.ejection().count).toBe(0);
  });

  it('keeps deadlines right for three years of uptime', () => {
    const { one, reader } = views();
    const threeYears = 3 * 365 * 24 * 3_600_000;
    one.eject(threeYears, 'status', 5);
    expect(reader.traffic()).toEqual({ state: 'ejected', untilMs: threeYears });
    expect(one.beginProbe(threeYears - 1)).toBe(false);
    expect(one.beginProbe(threeYears)).toBe(true);
  });
});

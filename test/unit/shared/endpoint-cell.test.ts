import { describe, expect, it } from 'vitest';
import { createEndpointCellSource, type EjectionReason, EndpointCell } from '../../../gateway/shared/endpoint-cell.ts';

const IN_A_ROW: EjectionReason = { why: 'connection_refused', trigger: 'consecutive_failures', figure: 5 };
const BY_SHARE: EjectionReason = { why: 'status', trigger: 'failure_percent', figure: 60 };

/** Two workers and a reader look at the same endpoint. */
function views() {
  const place = createEndpointCellSource(2, 1)();
  return { one: new EndpointCell(place, 0), two: new EndpointCell(place, 1), reader: new EndpointCell(place, -1) };
}

describe('an endpoint in shared memory', () => {
  it('is active at first, and nothing is known of it', () => {
    const { reader } = views();
    expect(reader.traffic()).toEqual({ state: 'active' });
    expect([reader.isEjected(), reader.operatorWord(), reader.warmingSinceMs()]).toEqual([false, 'none', null]);
    expect([reader.latencyMs(), reader.fadedLatencyMs(1000), reader.inFlight()]).toEqual([0, 0, 0]);
    expect(reader.backoff()).toEqual({ step: 0, returnedAtMs: 0 });
  });

  it('counts failures in a row over all workers', () => {
    const { one, two } = views();
    expect([one.countFailure(), two.countFailure(), one.countFailure()]).toEqual([1, 2, 3]);
    two.countSuccess();
    expect(one.countFailure()).toBe(1);
  });

  it('is set aside for all workers at once, with its reason', () => {
    const { one, two, reader } = views();
    expect(one.eject(5000, IN_A_ROW)).toBe(true);
    expect(two.isEjected()).toBe(true);
    expect(two.eject(9000, BY_SHARE)).toBe(false);
    expect(reader.traffic()).toEqual({ state: 'ejected', untilMs: 5000 });
    expect(reader.ejection()).toEqual(IN_A_ROW);
    expect([reader.ejections('consecutive_failures'), reader.ejections('failure_percent')]).toEqual([1, 0]);
  });

  it('lets exactly one worker probe, and only when its time is over', () => {
    const { one, two, reader } = views();
    one.eject(5000, IN_A_ROW);
    expect(one.beginProbe(4999)).toBe(false);
    expect([one.beginProbe(5000), two.beginProbe(5000), one.beginProbe(6000)]).toEqual([true, false, false]);
    expect(reader.traffic()).toEqual({ state: 'probing' });
    expect(reader.isEjected()).toBe(true);
  });

  it('is active again after a good probe, warms up, and its row of failures is forgotten', () => {
    const { one, two, reader } = views();
    one.countFailure();
    one.eject(5000, IN_A_ROW);
    two.beginProbe(5000);
    expect(two.probeSucceeded(5100)).toBe(true);
    expect(reader.traffic()).toEqual({ state: 'active' });
    expect([one.backoff().returnedAtMs, one.warmingSinceMs()]).toEqual([5100, 5100]);
    expect(one.countFailure()).toBe(1);
  });

  it('is ejected again after a bad probe, and counts that', () => {
    const { one, two, reader } = views();
    one.eject(5000, BY_SHARE);
    two.beginProbe(5000);
    expect(two.probeFailed(15_000, { ...IN_A_ROW, why: 'connection_timeout' })).toBe(true);
    expect(reader.traffic()).toEqual({ state: 'ejected', untilMs: 15_000 });
    expect(reader.ejection().why).toBe('connection_timeout');
    expect([reader.ejections('consecutive_failures'), reader.ejections('failure_percent')]).toEqual([1, 1]);
  });

  it('is not brought back by another worker than the one that probes', () => {
    const { one, two } = views();
    one.eject(5000, IN_A_ROW);
    one.beginProbe(5000);
    expect([two.probeSucceeded(5000), two.probeFailed(9000, BY_SHARE)]).toEqual([false, false]);
    expect(one.traffic()).toEqual({ state: 'probing' });
    expect(one.ejections('failure_percent')).toBe(0);
  });

  it('may be probed again when a probe ended without a verdict or its worker died', () => {
    const { one, two, reader } = views();
    one.eject(5000, IN_A_ROW);
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

  it('takes an ejection back that was one too many, and not one that is not its own', () => {
    const { one, two, reader } = views();
    one.eject(5000, IN_A_ROW);
    two.undoEjection(5100, IN_A_ROW);
    expect(reader.isEjected()).toBe(true);
    one.undoEjection(5000, IN_A_ROW);
    expect([reader.isEjected(), reader.ejections('consecutive_failures')]).toEqual([false, 0]);
  });

  it('keeps deadlines right for three years of uptime', () => {
    const { one, reader } = views();
    const threeYears = 3 * 365 * 24 * 3_600_000;
    one.eject(threeYears, IN_A_ROW);
    expect(reader.traffic()).toEqual({ state: 'ejected', untilMs: threeYears });
    expect(one.beginProbe(threeYears - 1)).toBe(false);
    expect(one.beginProbe(threeYears)).toBe(true);
    expect(one.probeSucceeded(threeYears)).toBe(true);
    expect(reader.backoff().returnedAtMs).toBe(threeYears);
  });
});

describe('the window of an endpoint', () => {
  it('counts attempts and failures of all workers', () => {
    const { one, two, reader } = views();
    for (const isFailure of [true, false, false]) one.countInWindow(7, isFailure);
    two.countInWindow(8, true);
    expect([reader.attemptsInWindow(8), reader.failuresInWindow(8)]).toEqual([4, 2]);
  });

  it('takes back that an attempt was good', () => {
    const { one } = views();
    one.countInWindow(7, false);
    one.failedInWindow(7);
    expect([one.attemptsInWindow(7), one.failuresInWindow(7)]).toEqual([1, 1]);
  });

  it.each([
    ['a good probe', (cell: EndpointCell) => cell.beginProbe(5000) && cell.probeSucceeded(5000)],
    ['an operator', (cell: EndpointCell) => cell.restore(5000)],
  ])('is forgotten when the endpoint comes back by %s: old failures do not eject it again', (_what, bringBack) => {
    const { one, two } = views();
    for (const cell of [one, two]) for (let at = 0; at < 20; at++) cell.countInWindow(7, true);
    one.eject(5000, BY_SHARE);
    bringBack(one);
    expect([two.attemptsInWindow(7), two.failuresInWindow(7)]).toEqual([0, 0]);
    two.countInWindow(7, true);
    expect([one.attemptsInWindow(7), one.failuresInWindow(8)]).toEqual([1, 1]);
  });
});

describe('an operator', () => {
  it('says a word that everybody sees, until it is taken back', () => {
    const { one, reader } = views();
    reader.setOperatorWord('drain');
    expect(one.operatorWord()).toBe('drain');
    reader.setOperatorWord('eject');
    expect(one.operatorWord()).toBe('eject');
    reader.setOperatorWord('none');
    expect(one.operatorWord()).toBe('none');
  });

  it('restores an endpoint whatever set it aside', () => {
    const { one, reader } = views();
    one.eject(60_000, IN_A_ROW);
    reader.setOperatorWord('eject');
    reader.restore(7000);
    expect([one.operatorWord(), one.isEjected(), one.warmingSinceMs()]).toEqual(['none', false, 7000]);
  });

  it('does not let an endpoint warm up that was only drained', () => {
    const { reader } = views();
    reader.setOperatorWord('drain');
    reader.restore(7000);
    expect([reader.operatorWord(), reader.warmingSinceMs()]).toEqual(['none', null]);
  });

  it('takes the verdict from a probe that is under way', () => {
    const { one, reader } = views();
    one.eject(5000, IN_A_ROW);
    one.beginProbe(5000);
    reader.restore(5050);
    expect([one.probeFailed(9000, IN_A_ROW), one.probeSucceeded(5100)]).toEqual([false, false]);
    expect(reader.traffic()).toEqual({ state: 'active' });
    expect(reader.ejections('consecutive_failures')).toBe(1);
  });
});

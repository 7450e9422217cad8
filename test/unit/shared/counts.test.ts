import { describe, expect, it } from 'vitest';
import { allocateGatewayCell, GatewayCell } from '../../../gateway/shared/gateway-cell.ts';
import { BUCKET_BOUNDS_SECONDS } from '../../../gateway/shared/histogram.ts';
import { allocateRouteCell, COUNTED_METHODS, RouteCell, STATUS_CLASSES } from '../../../gateway/shared/route-cell.ts';
import { allocateServiceCell, retryReason, ServiceCell } from '../../../gateway/shared/service-cell.ts';
import { allocateSourceCell, SourceCell } from '../../../gateway/shared/source-cell.ts';

describe('the counts of a route', () => {
  it('add up over the workers, by method and status class', () => {
    const buffer = allocateRouteCell(2);
    const [one, two, reader] = [new RouteCell(buffer, 0), new RouteCell(buffer, 1), new RouteCell(buffer, -1)];
    for (const cell of [one, two]) {
      cell.requestStarted();
      cell.requestEnded('GET', 204, 0.003);
    }
    one.requestStarted();
    one.requestEnded('BREW', 799, 100);
    const count = (method: (typeof COUNTED_METHODS)[number], status: (typeof STATUS_CLASSES)[number]) =>
      reader.requests(COUNTED_METHODS.indexOf(method), STATUS_CLASSES.indexOf(status));
    expect([count('GET', '2xx'), count('other', '5xx'), count('POST', '2xx')]).toEqual([2, 1, 0]);
    expect(reader.inFlight()).toBe(0);
  });

  it('sort durations into cumulative buckets', () => {
    const buffer = allocateRouteCell(1);
    const cell = new RouteCell(buffer, 0);
    for (const seconds of [0.001, 0.002, 0.6, 1000]) {
      cell.requestStarted();
      cell.requestEnded('GET', 200, seconds);
    }
    const { cumulative, count, sumSeconds } = cell.durations();
    const upTo = (bound: number) => cumulative[BUCKET_BOUNDS_SECONDS.indexOf(bound)];
    expect([upTo(0.001), upTo(0.0025), upTo(0.5), upTo(1), upTo(60), cumulative.at(-1)]).toEqual([1, 2, 2, 3, 3, 4]);
    expect(count).toBe(4);
    expect(sumSeconds).toBeCloseTo(1000.603);
  });
});

describe('the state of a service', () => {
  it('gives every turn once, whoever asks', () => {
    const buffer = allocateServiceCell(2);
    const cells = [new ServiceCell(buffer, 0), new ServiceCell(buffer, 1)];
    const turns = Array.from({ length: 10 }, (_, at) => cells[at % 2]?.nextTurn());
    expect(turns).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is entered and left once, by whoever comes first', () => {
    const buffer = allocateServiceCell(2);
    const [one, two] = [new ServiceCell(buffer, 0), new ServiceCell(buffer, 1)];
    const now = Date.UTC(2040, 0, 1);
    expect(one.degraded()).toBeNull();
    expect([one.enterDegraded('unreachable', now), two.enterDegraded('empty', now + 5000)]).toEqual([true, false]);
    expect(two.degraded()).toEqual({ sinceMs: now, reason: 'unreachable' });
    expect([two.leaveDegraded(now + 8000), one.leaveDegraded(now + 8000)]).toEqual([true, false]);
    expect(one.degraded()).toBeNull();
  });

  it('keeps the requests and retries of the last ten seconds apart, over all workers', () => {
    const buffer = allocateServiceCell(2);
    const [one, two] = [new ServiceCell(buffer, 0), new ServiceCell(buffer, 1)];
    for (let at = 0; at < 10; at++) (at % 2 === 0 ? one : two).countForBudget(1000, at >= 7);
    expect(one.budgetWindow(1000)).toEqual({ requests: 7, retries: 3 });
    expect(two.budgetWindow(9999)).toEqual({ requests: 7, retries: 3 });
    expect(two.budgetWindow(10_000)).toEqual({ requests: 0, retries: 0 });
  });

  it('counts retries, denials, updates and the requests under way, and those of a dead worker no more', () => {
    const buffer = allocateServiceCell(2);
    const [one, two] = [new ServiceCell(buffer, 0), new ServiceCell(buffer, 1)];
    for (const cell of [one, two]) {
      cell.countRetry('timeout');
      cell.countDenial('budget');
      cell.requestStarted();
    }
    one.countUpdate();
    expect([one.retries('timeout'), one.retries('status'), two.denials('budget'), two.updates()]).toEqual([2, 0, 2, 1]);
    two.abandonLane(0);
    expect(one.inFlight()).toBe(1);
    two.requestEnded();
    expect(one.inFlight()).toBe(0);
  });

  it('has none of its words in common with another', () => {
    const buffer = allocateServiceCell(1);
    const cell = new ServiceCell(buffer, 0);
    const policy = { failurePercent: 50, minRequests: 1, windowMs: 1000, openMs: 1000, probes: 3 };
    cell.nextTurn();
    cell.bumpEpoch();
    cell.setMaintenance(true);
    cell.enterDegraded('breaker', 5000);
    cell.openBreaker(policy, 7000);
    expect([cell.nextTurn(), cell.epoch(), cell.isInMaintenance(), cell.timesOpened()]).toEqual([1, 1, true, 1]);
    expect(cell.degraded()).toEqual({ sinceMs: 5000, reason: 'breaker' });
    expect(cell.breaker(7000)).toEqual({ state: 'open', untilMs: 8000 });
    cell.setMaintenance(false);
    expect([cell.isInMaintenance(), cell.breaker(7000).state]).toEqual([false, 'open']);
  });
});

describe('the reason of a retry', () => {
  it.each([
    ['connect', ['connection_refused', 'destination_ip_unroutable', 'dns_error', 'connection_timeout']],
    ['connect', ['tls_certificate_error', 'tls_protocol_error']],
    ['reset', ['connection_terminated', 'http_protocol_error', 'truncated']],
    ['timeout', ['http_response_timeout']],
    ['status', ['status']],
  ] as const)('is %s for %s', (reason, failures) => {
    expect(failures.map(retryReason)).toEqual(failures.map(() => reason));
  });
});

describe('the counts of a discovery source', () => {
  it('add up over the workers, with the time that queries took', () => {
    const buffer = allocateSourceCell(2);
    const [one, two] = [new SourceCell(buffer, 0), new SourceCell(buffer, 1)];
    one.countQuery('answer', 250);
    two.countQuery('answer', 60_000);
    two.countQuery('failure', 10);
    expect([one.queries('answer'), one.queries('failure')]).toEqual([2, 1]);
    expect(one.durations()).toMatchObject({ count: 3, sumSeconds: 60.26 });
  });
});

describe('the connections of the process', () => {
  it('are limited over all workers, and those of a dead worker come back', () => {
    const buffer = allocateGatewayCell(2);
    const [one, two, reader] = [new GatewayCell(buffer, 0), new GatewayCell(buffer, 1), new GatewayCell(buffer, -1)];
    expect([one.openDownstream(3), two.openDownstream(3), two.openDownstream(3), one.openDownstream(3)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    one.closeDownstream();
    expect(two.openDownstream(3)).toBe(true);
    expect(one.openDownstream(3)).toBe(false);
    reader.abandonLane(1);
    expect(reader.worker(1).downstream).toBe(0);
    expect([one.openDownstream(3), one.openDownstream(3), one.openDownstream(3), one.openDownstream(3)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});

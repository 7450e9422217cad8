import { describe, expect, it } from 'vitest';
import { allocateGatewayCell, GatewayCell } from '../../../gateway/shared/gateway-cell.ts';
import { BUCKET_BOUNDS_SECONDS } from '../../../gateway/shared/histogram.ts';
import { allocateRouteCell, COUNTED_METHODS, RouteCell, STATUS_CLASSES } from '../../../gateway/shared/route-cell.ts';
import { allocateServiceCell, ServiceCell } from '../../../gateway/shared/service-cell.ts';

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
    expect([two.leaveDegraded(), one.leaveDegraded()]).toEqual([true, false]);
    expect(one.degraded()).toBeNull();
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

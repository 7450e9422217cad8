import { describe, expect, it } from 'vitest';
import { EndpointCell } from '../../../gateway/shared/endpoint-cell.ts';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { badFor, good, leased, PoolScene } from '../../support/pool-scene.ts';

const BY_ROWS = { ejection: ejectionPolicy({ failurePercent: Number.POSITIVE_INFINITY }) };

function endpoints(count: number) {
  return Array.from({ length: count }, (_, at) => endpoint(at + 1));
}

describe('an endpoint that fails for ever', () => {
  it('is set aside for longer and longer, up to the maximum', () => {
    const scene = new PoolScene(endpoints(2), 4, BY_ROWS);
    scene.run({ seconds: 1300, perSecond: 10, outcome: badFor(2) });
    expect(scene.history()).toEqual([
      [1, 2, 'ejected', 5],
      [6, 2, 'ejected', 10],
      [16, 2, 'ejected', 20],
      [36, 2, 'ejected', 40],
      [76, 2, 'ejected', 80],
      [156, 2, 'ejected', 160],
      [316, 2, 'ejected', 300],
      [616, 2, 'ejected', 300],
      [916, 2, 'ejected', 300],
      [1216, 2, 'ejected', 300],
    ]);
  });

  it('costs the clients five failures, and then one a time (case 106)', () => {
    const scene = new PoolScene(endpoints(2), 4, BY_ROWS);
    let failed = 0;
    scene.run({
      seconds: 100,
      perSecond: 100,
      outcome: (port) => (port === 2 && ++failed > 0 ? 'connection_refused' : 'success'),
    });
    expect(failed).toBe(5 + 4);
    expect(scene.view()[2]).toMatchObject({ failures: 9, ejections: 5, state: 'ejected' });
  });

  it.each([
    [0, [4, 8, 16]],
    [0.5, [5, 10, 20]],
    [0.999_999, [6, 12, 24]],
  ])('is set aside a fifth shorter or longer, as chance (%d) has it', (chance, seconds) => {
    const scene = new PoolScene(endpoints(2), 1, BY_ROWS);
    scene.clock.random = () => chance;
    scene.run({ seconds: 30, perSecond: 10, outcome: badFor(2) });
    expect(scene.changes.slice(0, 3).map(({ forMs }) => Math.round(forMs / 1000))).toEqual(seconds);
  });
});

describe('an endpoint that recovers', () => {
  it('is back when its time is over, by one request', () => {
    const scene = new PoolScene(endpoints(2), 4, BY_ROWS);
    scene.run({ seconds: 1, perSecond: 10, outcome: badFor(2) });
    const states = scene.run({ seconds: 10, perSecond: 10, outcome: good }, () => scene.states()[2] ?? '');
    expect(states).toEqual([
      [1.1, 'ejected'],
      [6, 'active'],
    ]);
    expect(scene.history().at(-1)).toEqual([6, 2, 'active', 0]);
  });

  it('is set aside for a shorter time again after long good service (case 130)', () => {
    const policy = ejectionPolicy({ failurePercent: Number.POSITIVE_INFINITY, maxMs: 60_000 });
    const scene = new PoolScene(endpoints(2), 2, { ejection: policy });
    const rows: [serviceSeconds: number, ejectedSeconds: number | undefined][] = [];
    for (const serviceSeconds of [0, 10, 10, 10, 10, 10, 50, 61, 125, 10, 300]) {
      scene.run({ seconds: serviceSeconds, perSecond: 10, outcome: good });
      scene.run({ seconds: 1, perSecond: 10, outcome: badFor(2) });
      const forMs = scene.changes.at(-1)?.forMs ?? 0;
      rows.push([serviceSeconds, forMs / 1000]);
      scene.clock.advance(forMs);
      scene.requests(4, good);
    }
    expect(rows).toEqual([
      [0, 5],
      [10, 10],
      [10, 20],
      [10, 40],
      [10, 60],
      [10, 60],
      [50, 60],
      [61, 40],
      [125, 20],
      [10, 40],
      [300, 5],
    ]);
  });

  it('lets one of all workers probe, while the others go on elsewhere', () => {
    const scene = new PoolScene(endpoints(2), 8, BY_ROWS);
    scene.requests(16, badFor(2));
    scene.clock.advance(5100);
    const leases = scene.workers.map((_, worker) => leased(scene.acquire(worker)));
    expect(leases.map(({ isProbe }) => isProbe)).toEqual([true, ...Array(7).fill(false)]);
    expect(leases.map(({ endpoint: { port } }) => port)).toEqual([2, ...Array(7).fill(1)]);
    expect(scene.states()).toEqual({ 1: 'active', 2: 'probing' });
    leases[0]?.release('http_response_timeout');
    expect(scene.states()).toEqual({ 1: 'active', 2: 'ejected' });
  });

  it('stays out by what requests from before its ejection bring, and is not held up by them', () => {
    const scene = new PoolScene(endpoints(2), 2, BY_ROWS);
    const old = [scene.leaseOn(2), scene.leaseOn(2)];
    scene.requests(20, badFor(2));
    scene.clock.advance(4000);
    old[0]?.answered(4000);
    old[0]?.release('success');
    expect(scene.states()[2]).toBe('ejected');
    old[1]?.release('http_response_timeout');
    scene.clock.advance(1100);
    scene.requests(2, good);
    expect(scene.states()[2]).toBe('active');
    expect(scene.changes).toHaveLength(2);
  });

  it('is probed anew when the worker that probed it died', () => {
    const scene = new PoolScene(endpoints(2), 2, BY_ROWS);
    scene.requests(20, badFor(2));
    scene.clock.advance(5100);
    expect(leased(scene.acquire(1)).isProbe).toBe(true);
    expect(scene.requests(4, good).get('2')).toBeUndefined();
    for (const { cell } of scene.snapshot.endpoints) new EndpointCell(cell, -1).abandonLane(1, scene.clock.nowMs());
    expect(scene.request(0, good)).toBe('2');
    expect(scene.states()[2]).toBe('active');
  });

  it('returns once its head came, even if the rest breaks off', () => {
    const scene = new PoolScene(endpoints(2), 1, BY_ROWS);
    scene.requests(20, badFor(2));
    scene.clock.advance(5100);
    const probe = leased(scene.acquire());
    probe.answered(3);
    probe.answered(3);
    probe.release('truncated');
    expect(scene.history().map(([, , to]) => to)).toEqual(['ejected', 'active']);
    expect(scene.states()[2]).toBe('active');
  });
});

describe('how many are set aside at once', () => {
  it.each([
    [1, 50, 0],
    [1, 100, 0],
    [2, 50, 1],
    [2, 1, 1],
    [3, 50, 1],
    [4, 50, 2],
    [5, 50, 2],
    [10, 30, 3],
    [3, 100, 3],
  ])('of %d endpoints that all fail, with maxPercent %d, is %d (case 109)', (count, maxPercent, most) => {
    const scene = new PoolScene(endpoints(count), 3, { ejection: ejectionPolicy({ maxPercent }) });
    const counts = scene.run({ seconds: 120, perSecond: 20, outcome: () => 'status' }, () =>
      String(scene.out().length),
    );
    expect(Math.max(...counts.map(([, out]) => Number(out)))).toBe(most);
  });

  it('is reckoned from those that may take traffic at all', () => {
    const critical = { healthy: false, status: 'critical' as const };
    const scene = new PoolScene([
      endpoint(1),
      endpoint(2, critical),
      endpoint(3, critical),
      endpoint(4, { weight: 0 }),
    ]);
    scene.requests(100, badFor(1));
    expect(scene.out()).toEqual([]);
    scene.update([endpoint(1), endpoint(2)]);
    scene.requests(100, badFor(1));
    expect(scene.out()).toEqual([1]);
  });

  it('may be all of them, and they come back by themselves (case 111)', () => {
    const scene = new PoolScene(endpoints(2), 2, { ejection: ejectionPolicy({ maxPercent: 100 }) });
    scene.requests(20, () => 'status');
    expect([scene.request(0, good), scene.request(1, good)]).toEqual(['ejected', 'ejected']);
    const failOpen = leased(scene.acquire(0, { failOpen: true }));
    failOpen.answered(1);
    failOpen.release('success');
    expect(scene.states()).toEqual({ 1: 'ejected', 2: 'ejected' });
    scene.clock.advance(5100);
    expect([scene.request(0, good), scene.request(1, good)].toSorted()).toEqual(['1', '2']);
    expect(scene.states()).toEqual({ 1: 'active', 2: 'active' });
  });
});

describe('what is said of an endpoint', () => {
  it('lasts over snapshots of others and of its own facts (case 105), and ends with its instance', () => {
    const scene = new PoolScene(endpoints(2), 2, BY_ROWS);
    scene.requests(20, badFor(2));
    const until = scene.view()[2]?.until;
    for (const facts of [{}, { weight: 9 }, { tags: ['b'] }, { instances: ['i2', 'twin'] }, { instances: ['twin'] }]) {
      scene.clock.advance(100);
      scene.update([endpoint(1), endpoint(2, facts), endpoint(3)]);
      expect(scene.view()[2]).toMatchObject({ state: 'ejected', until });
    }
    scene.update([endpoint(1), endpoint(2, { instances: ['new'] })]);
    expect(scene.view()[2]).toMatchObject({ state: 'active', until: null, failures: 0, ejections: 0 });
  });

  it('is a sentence and a time', () => {
    const scene = new PoolScene(endpoints(2), 2, BY_ROWS);
    scene.requests(20, badFor(2));
    expect(scene.view()[2]).toMatchObject({
      state: 'ejected',
      why: 'ejected: 5 failures in a row, the last: connection refused',
      until: new Date(1_700_000_000_000 + 6000).toISOString(),
      effectiveWeight: 0,
    });
    scene.clock.advance(5100);
    leased(scene.acquire());
    expect(scene.view()[2]).toMatchObject({
      state: 'probing',
      why: 'one request is trying it; ejected before: 5 failures in a row, the last: connection refused',
      until: null,
      inFlight: 1,
    });
  });
});

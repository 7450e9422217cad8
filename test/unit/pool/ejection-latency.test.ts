import { describe, expect, it } from 'vitest';
import { ejectionPolicy } from '../../support/ejection-policy.ts';
import { endpoint } from '../../support/endpoints.ts';
import { good, PoolScene } from '../../support/pool-scene.ts';

const SLOW = { slowerThan: 3, minRequests: 10 };

/** A pool whose endpoints answer in the given times; `maxPercent` lets all of them be set aside. */
function pool(
  latencies: readonly number[],
  policy: Parameters<typeof ejectionPolicy>[0] = {},
  isPeakSensitive = false,
) {
  const endpoints = latencies.map((_, at) => endpoint(at + 1));
  const ejection = ejectionPolicy({ ...SLOW, maxPercent: 100, ...policy });
  const scene = new PoolScene(endpoints, 3, { ejection, isPeakSensitive });
  const latencyMs = (port: number): number => latencies[port - 1] ?? 0;
  return { scene, run: (seconds: number) => scene.run({ seconds, perSecond: 100, outcome: good, latencyMs }) };
}

describe('an endpoint that is slower than the others', () => {
  it.each([
    ['one alone', [5000], []],
    ['two, one of them slow', [20, 100], [2]],
    ['two, one of them slow but not enough', [20, 60], []],
    ['two, both slow', [1000, 1000], []],
    ['two, one of them slow but below what anybody notices', [0.5, 9.9], []],
    ['three, one of them slow', [20, 25, 100], [3]],
    ['three, two of them slow: they are the median', [20, 100, 100], []],
    ['four, two of them slow', [20, 20, 100, 100], [3, 4]],
    ['five, two of them slow', [200, 20, 25, 90, 30], [1, 4]],
    ['six, three of them slow', [20, 200, 20, 200, 20, 200], [2, 4, 6]],
  ])('is set aside: %s', (_what, latencies, out) => {
    const { scene, run } = pool(latencies);
    run(4);
    expect(scene.out()).toEqual(out);
  });

  it('says how much slower it was', () => {
    const { scene, run } = pool([20, 25, 100]);
    run(4);
    expect(scene.changes[0]?.reason).toMatchObject({ trigger: 'slow', figure: 40 });
    expect(scene.view()[3]?.why).toBe('ejected: 4 times slower than the median of the pool');
  });

  it('stays when the rule is off, and when the pool cannot spare it', () => {
    const off = pool([20, 1000], { slowerThan: Number.POSITIVE_INFINITY });
    off.run(5);
    expect(off.scene.out()).toEqual([]);
    const { scene, run } = pool([20, 20, 20, 300, 300], { maxPercent: 20 });
    run(5);
    expect(scene.out()).toHaveLength(1);
  });

  it('is judged only after enough requests in the window', () => {
    const rare = pool([20, 1000], { minRequests: 600 });
    rare.run(30);
    expect(rare.scene.out()).toEqual([]);
    const { scene, run } = pool([20, 1000], { minRequests: 300 });
    run(5.9);
    expect(scene.out()).toEqual([]);
    run(2);
    expect(scene.out()).toEqual([2]);
  });

  it.each([false, true])(
    'is not set aside for one slow answer, where balancers believe peaks: %s',
    (isPeakSensitive) => {
      const { scene, run } = pool([20, 20, 20], {}, isPeakSensitive);
      run(4);
      const slow = scene.leaseOn(2);
      slow.answered(300);
      slow.release('success');
      run(4);
      expect(scene.out()).toEqual([]);
    },
  );

  it('comes back with no latency held against it', () => {
    const latencies = [20, 20, 500];
    const { scene, run } = pool(latencies);
    run(4);
    expect(scene.out()).toEqual([3]);
    latencies[2] = 20;
    run(6);
    expect(scene.history().map(([, port, to]) => [port, to])).toEqual([
      [3, 'ejected'],
      [3, 'active'],
    ]);
    run(5);
    expect(scene.out()).toEqual([]);
    expect(scene.view()[3]?.latencyMs).toBe(20);
  });
});

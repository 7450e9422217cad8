import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { BUCKET_BOUNDS_SECONDS } from '../../../gateway/shared/histogram.ts';
import { SharedHistogram } from '../../../gateway/telemetry/shared-histogram.ts';

const TOTALS = {
  cumulative: BUCKET_BOUNDS_SECONDS.map((_bound, at) => Math.min(at, 3)).concat(4),
  count: 4,
  sumSeconds: 61.5,
};

describe('a shared histogram', () => {
  const registry = new Registry();
  registry.registerMetric(
    new SharedHistogram('took_seconds', 'Time', 'route', () => [{ label: 'web', totals: TOTALS }]),
  );

  it('writes its buckets, sum and count as text, read anew at each scrape', async () => {
    const lines = (await registry.metrics()).trimEnd().split('\n');
    expect(lines.slice(0, 4)).toEqual([
      '# HELP took_seconds Time',
      '# TYPE took_seconds histogram',
      'took_seconds_bucket{le="0.001",route="web"} 0',
      'took_seconds_bucket{le="0.0025",route="web"} 1',
    ]);
    expect(lines.slice(-3)).toEqual([
      'took_seconds_bucket{le="+Inf",route="web"} 4',
      'took_seconds_sum{route="web"} 61.5',
      'took_seconds_count{route="web"} 4',
    ]);
  });

  it('gives the same as data', async () => {
    const [metric] = await registry.getMetricsAsJSON();
    expect(metric).toMatchObject({ name: 'took_seconds', type: 'histogram' });
    expect(metric?.values.at(-1)).toEqual({ labels: { route: 'web' }, metricName: 'took_seconds_count', value: 4 });
  });
});

// A Prometheus histogram whose buckets are counted in shared memory.
import { Histogram } from 'prom-client';
import { BUCKET_BOUNDS_SECONDS, type HistogramTotals } from '../shared/histogram.ts';

export interface LabelledTotals {
  readonly label: string;
  readonly totals: HistogramTotals;
}

export class SharedHistogram extends Histogram<string> {
  readonly #help: string;
  readonly #series: string;
  readonly #label: string;
  readonly #read: () => readonly LabelledTotals[];

  /** `label` is the name of the one label; `read` gives the totals of every series. */
  constructor(name: string, help: string, label: string, read: () => readonly LabelledTotals[]) {
    super({ name, help, labelNames: [label], buckets: [...BUCKET_BOUNDS_SECONDS], registers: [] });
    this.#help = help;
    this.#series = name;
    this.#label = label;
    this.#read = read;
  }

  /** What the registry asks for, and `get` of the histogram too; prom-client's types do not name it. */
  async getForPromString() {
    const values = this.#read().flatMap(({ label, totals }) => this.#samples(label, totals));
    return { name: this.#series, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }

  #samples(label: string, { cumulative, count, sumSeconds }: HistogramTotals) {
    const sharedLabels = { [this.#label]: label };
    const bounds = [...BUCKET_BOUNDS_SECONDS, '+Inf'];
    return [
      ...bounds.map((le, at) => ({
        labels: { le },
        sharedLabels,
        value: cumulative[at] ?? count,
        metricName: `${this.#series}_bucket`,
      })),
      { labels: {}, sharedLabels, value: sumSeconds, metricName: `${this.#series}_sum` },
      { labels: {}, sharedLabels, value: count, metricName: `${this.#series}_count` },
    ];
  }
}

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

  override async get(): ReturnType<Histogram<string>['get']> {
    const described = await super.get();
    const values = this.#read().flatMap(({ label, totals }) => this.#samples(label, totals));
    return { ...described, help: this.#help, values };
  }

  #samples(label: string, { cumulative, count, sumSeconds }: HistogramTotals) {
    const labels = { [this.#label]: label };
    const bounds = [...BUCKET_BOUNDS_SECONDS, '+Inf'];
    return [
      ...bounds.map((le, at) => ({
        labels: { le, ...labels },
        value: cumulative[at] ?? count,
        metricName: `${this.#series}_bucket`,
      })),
      { labels, value: sumSeconds, metricName: `${this.#series}_sum` },
      { labels, value: count, metricName: `${this.#series}_count` },
    ];
  }
}

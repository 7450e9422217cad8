// Counters and gauges whose every scrape reads their samples anew: series of what is gone go with it.
import { Counter, Gauge, type Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [value: number, labels?: Labels];

/** What a metric is, and where its samples come from. */
export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: () => readonly Sample[];
}

/** Registers a counter whose samples are totals. */
export function counter(registry: Registry, { name, help, labels = [], read }: MetricOptions): void {
  new Counter({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, of] of read()) this.inc(of ?? {}, value);
    },
  });
}

/** Registers a gauge. */
export function gauge(registry: Registry, { name, help, labels = [], read }: MetricOptions): void {
  new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, of] of read()) this.set(of ?? {}, value);
    },
  });
}

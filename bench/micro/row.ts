// One row of the micro benchmarks: what is measured, in which unit, and how.

export interface Row {
  readonly what: string;
  readonly unit: 'ns' | 'µs' | 'MB/s';
  /** Runs once and returns its figure. */
  readonly measure: () => number;
}

let kept = 0;

/** Takes a result, so that nothing measured can be left out as unused. */
export function keep(result: number): void {
  kept += result;
  if (!Number.isFinite(kept)) kept = 0;
}

/** Time on the processor, which other programs on the machine do not stretch much. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

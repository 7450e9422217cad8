// Reads the Prometheus text format (version 0.0.4) strictly.

export interface MetricFamily {
  readonly type: string;
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** The metrics by name. Throws at a line that is none, a family without help or type, and a series that is there twice. */
export function parsePrometheusText(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, { type: string; samples: MetricSample[] }>();
  const helped = new Set<string>();
  const series = new Set<string>();
  let current = '';
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      helped.add(name);
    } else if (kind === 'TYPE') {
      if (families.has(name) || !helped.has(name)) throw new Error(`twice, or without help: ${line}`);
      families.set(name, { type: rest, samples: [] });
      current = name;
    } else {
      const sample = parseSample(line);
      const family = families.get(current);
      if (family === undefined || !belongs(sample.name, current, family.type)) throw new Error(`out of place: ${line}`);
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
      if (series.has(key)) throw new Error(`twice: ${line}`);
      series.add(key);
      family.samples.push(sample);
    }
  }
  return families;
}

/** The sum of a metric's samples that carry all these labels. */
export function sumOf(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  if (family === undefined) throw new Error(`there is no metric ${name}`);
  return family.samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

function parseSample(line: string): MetricSample {
  const [, name, labels = '', number = ''] = SAMPLE.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (name === undefined || (Number.isNaN(value) && number.toLowerCase() !== 'nan'))
    throw new Error(`not a sample: ${line}`);
  const found: [string, string][] = [];
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < labels.length) {
    const [, label = '', text = ''] = LABEL.exec(labels) ?? [];
    if (label === '') throw new Error(`not labels: ${line}`);
    found.push([label, text]);
  }
  return { name, labels: Object.fromEntries(found), value };
}

function belongs(sample: string, family: string, type: string): boolean {
  if (sample === family) return true;
  const ending = sample.startsWith(family) ? sample.slice(family.length) : '';
  if (type === 'histogram') return ['_bucket', '_sum', '_count'].includes(ending);
  return type === 'summary' && ['_sum', '_count'].includes(ending);
}

// Plots as inline SVG: bars, lines, and scatter with a fitted line. Colours come from the page's style sheet.

export interface Series {
  readonly name: string;
  /** Points only, without lines between them. */
  readonly isScatter?: boolean;
  /** Number of its colour; by its name or place otherwise. */
  readonly colour?: number;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface PlotOptions {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly isLogX?: boolean;
  readonly isLogY?: boolean;
  /** How a value of x is written; with digits as needed by default. */
  readonly xTick?: (value: number) => string;
  /** Where x has its ticks; at round values by default. */
  readonly xTicks?: readonly number[];
  /** Spans with a name, drawn behind: the steps of a timeline. */
  readonly spans?: readonly { readonly from: number; readonly to: number; readonly name: string }[];
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** Half of the spread, in the unit of the value. */
  readonly spread: number;
}

const [WIDTH, HEIGHT] = [600, 320];
const BOX = { left: 70, right: 20, top: 40, bottom: 56 };

/** Text that is safe in an element and in an attribute in double quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Horizontal bars, the longest the full width, with whiskers for the spread. */
export function barChart(title: string, unit: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value, spread }) => value + spread), Number.MIN_VALUE);
  const [left, width, row] = [140, 370, 26];
  const rows = bars.map(({ name, value, spread }, at) => {
    const y = 34 + at * row;
    const length = (value / most) * width;
    const [low, high] = [value - spread, value + spread].map((each) => left + (Math.max(0, each) / most) * width);
    return `<text x="${left - 8}" y="${y + 13}" class="end">${escapeHtml(name)}</text>
<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="18" class="fill${colourOf(name, at)}"><title>${escapeHtml(name)}: ${format(value)} ${escapeHtml(unit)}</title></rect>
<path d="M${low?.toFixed(1)} ${y + 9}H${high?.toFixed(1)}" class="whisker"/>
<text x="${(Math.max(left + length, high ?? 0) + 8).toFixed(1)}" y="${y + 13}">${format(value)}</text>`;
  });
  const height = 44 + bars.length * row;
  return svg(height, title, `<text x="0" y="18" class="title">${escapeHtml(title)}</text>\n${rows.join('\n')}`);
}

/** Lines (or points) over two axes. */
export function plot(series: readonly Series[], options: PlotOptions): string {
  const all = series.flatMap(({ points }) => points);
  if (all.length === 0) return '';
  const x = scaleOf(
    all.map(([value]) => value),
    options.isLogX ?? false,
    BOX.left,
    WIDTH - BOX.right,
  );
  const y = scaleOf(
    all.map(([, value]) => value),
    options.isLogY ?? false,
    HEIGHT - BOX.bottom,
    BOX.top,
  );
  const { xTick = format, xTicks = x.ticks, spans = [] } = options;
  const grid = [
    ...xTicks.map((value) => {
      const at = x.at(value).toFixed(1);
      return `<path d="M${at} ${BOX.top}V${HEIGHT - BOX.bottom}" class="grid"/><text x="${at}" y="${HEIGHT - BOX.bottom + 16}" class="mid">${escapeHtml(xTick(value))}</text>`;
    }),
    ...y.ticks.map((value) => {
      const at = y.at(value).toFixed(1);
      return `<path d="M${BOX.left} ${at}H${WIDTH - BOX.right}" class="grid"/><text x="${BOX.left - 8}" y="${Number(at) + 4}" class="end">${format(value)}</text>`;
    }),
  ];
  const behind = spans.map(({ from, to, name }, at) => {
    const [begin, end] = [x.at(from), x.at(to)];
    return `<rect x="${begin.toFixed(1)}" y="${BOX.top}" width="${Math.max(0, end - begin).toFixed(1)}" height="${HEIGHT - BOX.bottom - BOX.top}" class="span${at % 2}"><title>${escapeHtml(name)}</title></rect><text x="${(begin + 3).toFixed(1)}" y="${BOX.top + 11}" class="small">${at + 1}</text>`;
  });
  const lines = series.map((each, at) => {
    const { name, points, isScatter = false } = each;
    const colour = colourIn(each, at);
    const places = points.map(([px, py]) => `${x.at(px).toFixed(1)} ${y.at(py).toFixed(1)}`);
    const dots = isScatter ? places.map((place) => dot(place, colour)).join('') : '';
    const line =
      isScatter || places.length === 0 ? '' : `<path d="M${places.join('L')}" class="line stroke${colour}"/>`;
    return `<g><title>${escapeHtml(name)}</title>${line}${dots}</g>`;
  });
  const labels = `<text x="${WIDTH / 2}" y="${HEIGHT - 8}" class="mid">${escapeHtml(options.xLabel)}</text>
<text x="0" y="${BOX.top - 10}" class="small">${escapeHtml(options.yLabel)}</text>
<text x="0" y="16" class="title">${escapeHtml(options.title)}</text>`;
  const drawing = svg(HEIGHT, options.title, [...behind, ...grid, ...lines, labels].join('\n'));
  return `${drawing}\n${legend(series)}`;
}

function dot(place: string, colour: number): string {
  const [px, py] = place.split(' ');
  return `<circle cx="${px}" cy="${py}" r="4" class="fill${colour}"/>`;
}

function legend(series: readonly Series[]): string {
  const items = series.map(
    (each, at) => `<span><i class="back${colourIn(each, at)}"></i>${escapeHtml(each.name)}</span>`,
  );
  return `<p class="legend">${items.join(' ')}</p>`;
}

/** The gateways keep their colours from plot to plot. */
const FIXED = ['weir', 'nginx', 'haproxy', 'caddy', 'http-proxy-3', '@fastify/http-proxy', 'fast-proxy'];

function colourIn({ name, colour }: Series, at: number): number {
  return colour ?? colourOf(name, at);
}

function colourOf(name: string, at: number): number {
  const known = FIXED.indexOf(name);
  return known === -1 ? at % FIXED.length : known;
}

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

function scaleOf(values: readonly number[], isLog: boolean, from: number, to: number): Scale {
  const positive = isLog ? values.filter((value) => value > 0) : values;
  if (isLog) {
    const low = Math.floor(Math.log10(Math.min(...positive, 1e12)));
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive, 10 ** low))));
    const at = (value: number): number =>
      from + ((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)) * (to - from);
    return { at, ticks: Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)) };
  }
  const [low, most] = [Math.min(0, ...values), Math.max(...values)];
  const step = roundStep((most - low) / 5);
  const high = Math.max(low + step, Math.ceil(most / step) * step);
  const at = (value: number): number => from + ((value - low) / (high - low)) * (to - from);
  return { at, ticks: Array.from({ length: Math.round((high - low) / step) + 1 }, (_, tick) => low + tick * step) };
}

function roundStep(rough: number): number {
  if (rough <= 0 || !Number.isFinite(rough)) return 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((each) => each * unit >= rough) ?? 10) * unit;
}

function format(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

function svg(height: number, title: string, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">\n${content}\n</svg>`;
}

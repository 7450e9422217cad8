// Durations, sizes and percentages as people write them in configuration.

const DURATION_UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const SIZE_UNITS_BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Milliseconds of `250ms`, `1.5s`, `2m` or `24h`; undefined for anything else, a bare number included. */
export function parseDuration(text: string): number | undefined {
  return parseQuantity(text, DURATION_UNITS_MS);
}

/** Bytes of `512B`, `16KiB`, `1MiB` or `2GiB`; undefined for anything else, a bare number included. */
export function parseSize(text: string): number | undefined {
  return parseQuantity(text, SIZE_UNITS_BYTES);
}

/** The number before the sign in `20%` (0 to 100); undefined for anything else. */
export function parsePercent(text: string): number | undefined {
  const percent = parseQuantity(text, { '%': 1 });
  return percent !== undefined && percent <= 100 ? percent : undefined;
}

/** Requests and the ms in which they may come, of `100/s`, `5/m`, `1000/h` or `10/30s`; undefined for anything else. */
export function parseRate(text: string): { readonly count: number; readonly periodMs: number } | undefined {
  const [, written = '', span = ''] = /^([1-9]\d{0,8})\/([A-Za-z]+|\d[A-Za-z0-9.]*)$/.exec(text) ?? [];
  const periodMs = parseDuration(/^\d/.test(span) ? span : `1${span}`);
  return written === '' || periodMs === undefined || periodMs < 1 ? undefined : { count: Number(written), periodMs };
}

function parseQuantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z%]+)$/.exec(text);
  const unit = match?.[2] ?? '';
  if (match === null || !Object.hasOwn(units, unit)) return undefined;
  return Math.round(Number(match[1]) * (units[unit] ?? 0));
}

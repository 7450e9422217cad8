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

function parseQuantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z%]+)$/.exec(text);
  const unit = match?.[2] ?? '';
  if (match === null || !Object.hasOwn(units, unit)) return undefined;
  return Math.round(Number(match[1]) * (units[unit] ?? 0));
}

// The time that a gRPC client gives for a call: the `grpc-timeout` field (gRPC over HTTP/2, "Requests").

const UNITS_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** The most digits that the field may have, as a number. */
const LARGEST = 99_999_999;

/** Milliseconds, with a fraction, of `5S`, `250m` or `99999999u`; undefined for anything else. */
export function parseGrpcTimeout(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number(digits) * unitMs;
}

/** The field for what is left of a time: the finest unit in which it can be said, rounded down, never nothing. */
export function formatGrpcTimeout(leftMs: number): string {
  for (const unit of ['u', 'm', 'S', 'M']) {
    const count = Math.floor(leftMs / (UNITS_MS[unit] ?? 1));
    if (count <= LARGEST) return `${Math.max(1, count)}${unit}`;
  }
  return `${Math.min(LARGEST, Math.floor(leftMs / 3_600_000))}H`;
}

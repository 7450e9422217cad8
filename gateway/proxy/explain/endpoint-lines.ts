// The endpoints of an explanation as an aligned list: whom the request goes to, who might have had it, and who is out.
import type { ExplainedEndpoint } from './explanation.ts';

/** More candidates than these are counted, not listed. */
const MOST_CANDIDATES = 20;
const MOST_OTHERS = 50;

/** A line an endpoint: `>` is the one picked, `-` one that cannot be. */
export function endpointLines(endpoints: readonly ExplainedEndpoint[]): string[] {
  const picked = endpoints.filter(({ isPicked }) => isPicked);
  const candidates = endpoints.filter(({ isCandidate, isPicked }) => isCandidate && !isPicked);
  const others = endpoints.filter(({ isCandidate, isPicked }) => !isCandidate && !isPicked);
  const shown = [...picked, ...candidates.slice(0, MOST_CANDIDATES), ...others.slice(0, MOST_OTHERS)];
  const rows = shown.map(cellsOf);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return [
    ...rows.map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    ...rest(candidates.length - MOST_CANDIDATES, 'candidates'),
    ...rest(others.length - MOST_OTHERS, 'that cannot be chosen'),
  ];
}

function cellsOf(endpoint: ExplainedEndpoint): string[] {
  const { isPicked, isCandidate, weight, effectiveWeight, state, sharePercent, cost, inFlight, latencyMs } = endpoint;
  const mark = isPicked ? '>' : isCandidate ? ' ' : '-';
  const share = sharePercent === null ? '' : ` (${sharePercent} %)`;
  const now = effectiveWeight === weight || effectiveWeight === 0 ? '' : `, now ${effectiveWeight}`;
  return [
    `${mark} ${endpoint.endpoint}`,
    `weight ${weight}${now}${share}`,
    state,
    `${inFlight} in flight`,
    latencyMs === null ? '' : `${latencyMs} ms`,
    cost === null ? '' : `cost ${cost}`,
    whyOf(endpoint),
  ];
}

function whyOf({ why, until }: ExplainedEndpoint): string {
  if (why === null) return '';
  return until === null ? why : `${why}, until ${until}`;
}

function rest(count: number, what: string): string[] {
  return count > 0 ? [`  and ${count} more ${what}`] : [];
}

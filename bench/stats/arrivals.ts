// A fixed arrival rate: when each request is due. Latency counted from then is free of coordinated omission: a gateway
// that stalls cannot make the load generator leave out the requests that would have felt it (G. Tene; wrk2).

export interface Schedule {
  readonly perSecond: number;
  readonly seconds: number;
}

/** Milliseconds from the start at which the request is due; the first, number 0, is due at once. */
export function dueMs(number: number, perSecond: number): number {
  return (number * 1000) / perSecond;
}

/** How many requests are due once so many milliseconds have passed; never more than the schedule has. */
export function dueUntil(elapsedMs: number, { perSecond, seconds }: Schedule): number {
  if (elapsedMs < 0) return 0;
  return Math.min(Math.floor((elapsedMs * perSecond) / 1000) + 1, Math.floor(perSecond * seconds));
}

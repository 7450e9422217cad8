// How often one may ask: each question has its price in time, and a little may be asked on credit.

/** One asker's account. */
export interface Pace {
  /** Milliseconds until the next question may be asked. */
  waitMs(nowMs: number): number;
  /** Pays for a question: in the long run `priceMs` must pass for it. */
  pay(priceMs: number, nowMs: number): void;
}

/** A pace (GCRA) that lets questions worth `creditMs` be asked without waiting, after enough quiet time. */
export function createPace(creditMs: number): Pace {
  let paidUntilMs = Number.NEGATIVE_INFINITY;
  return {
    waitMs: (nowMs) => Math.max(0, paidUntilMs - creditMs - nowMs),
    pay(priceMs, nowMs) {
      paidUntilMs = Math.max(paidUntilMs, nowMs) + priceMs;
    },
  };
}

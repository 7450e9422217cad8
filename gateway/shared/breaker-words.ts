// The breaker of a service as all workers share it: its state with a deadline in one word, its probes in another.
import type { BreakerPolicy, BreakerState } from '../resilience/breaker.ts';

const STATE = 0;
/** Which half-open time they are of (12 bits), the probes that were good and those let through (10 bits each). */
const PROBES = 1;
const OPENED = 2;
const CLOSED_AGAIN = 3;

/** How many words these are. */
export const BREAKER_WORDS = 4;

const CLOSED = 0;
const OPEN = 1;
const HALF_OPEN = 2;
const STATE_BITS = 2;
const TICK_MS = 100;
const GOOD_UNIT = 2 ** 10;
const TIME_UNIT = 2 ** 20;

/** What `admit` gives to a request that is refused, and to one that passes a closed breaker. */
export const REFUSED = -1;
export const PASSED = 0;

/** What a verdict changed. */
export type BreakerChange = 'opened' | 'closed' | null;

/**
 * Whether a request may go: REFUSED, PASSED, or, for a probe, the word that `probeEnded` wants back. A half-open
 * breaker whose probes do not come back within `openMs` begins anew.
 */
export function admit(words: Int32Array, at: number, { policy, nowMs }: Admission): number {
  const word = Atomics.load(words, at + STATE);
  const state = word & 3;
  if (state === CLOSED) return PASSED;
  const isOver = (word >>> STATE_BITS) * TICK_MS <= nowMs;
  if (state === OPEN && !isOver) return REFUSED;
  if (state === OPEN || isOver) return halfOpen(words, at, { policy, nowMs, word });
  return takeProbe(words, at, { policy, word });
}

export interface Admission {
  readonly policy: BreakerPolicy;
  readonly nowMs: number;
}

/** Opens a closed breaker until `openMs` from now; false when it was not closed. */
export function openBreaker(words: Int32Array, at: number, { policy, nowMs }: Admission): boolean {
  if (Atomics.compareExchange(words, at + STATE, CLOSED, openUntil(nowMs + policy.openMs)) !== CLOSED) return false;
  Atomics.add(words, at + OPENED, 1);
  return true;
}

export interface ProbeEnd extends Admission {
  /** What `admit` gave. */
  readonly token: number;
  /** null when the probe ended without a verdict. */
  readonly isGood: boolean | null;
}

/** A probe has ended: the last good one closes the breaker, a bad one opens it again. A late one changes nothing. */
export function probeEnded(words: Int32Array, at: number, { policy, nowMs, token, isGood }: ProbeEnd): BreakerChange {
  if (Atomics.load(words, at + STATE) !== token) return null;
  if (isGood === null) {
    addToProbes(words, at, { token, by: -1 });
    return null;
  }
  if (!isGood) {
    if (Atomics.compareExchange(words, at + STATE, token, openUntil(nowMs + policy.openMs)) !== token) return null;
    Atomics.add(words, at + OPENED, 1);
    return 'opened';
  }
  const good = Math.floor(addToProbes(words, at, { token, by: GOOD_UNIT }) / GOOD_UNIT);
  if (good < policy.probes) return null;
  // First: whoever sees it closed must not count what was before.
  Atomics.add(words, at + CLOSED_AGAIN, 1);
  return Atomics.compareExchange(words, at + STATE, token, CLOSED) === token ? 'closed' : null;
}

/** How the breaker stands, and until when it is open, in ms of the shared clock; null when it is not. */
export function breakerOf(words: Int32Array, at: number, nowMs: number): BreakerView {
  const word = Atomics.load(words, at + STATE);
  const untilMs = (word >>> STATE_BITS) * TICK_MS;
  if ((word & 3) === CLOSED) return { state: 'closed', untilMs: null };
  if ((word & 3) === OPEN && untilMs > nowMs) return { state: 'open', untilMs };
  return { state: 'half_open', untilMs: null };
}

export interface BreakerView {
  readonly state: BreakerState;
  readonly untilMs: number | null;
}

/** How often it has opened. */
export function timesOpened(words: Int32Array, at: number): number {
  return Atomics.load(words, at + OPENED);
}

/** Changes whenever it closes: what was counted before then does not open it again. */
export function breakerEpoch(words: Int32Array, at: number): number {
  return Atomics.load(words, at + CLOSED_AGAIN);
}

function halfOpen(words: Int32Array, at: number, { policy, nowMs, word }: Admission & { word: number }): number {
  const next = (Math.ceil((nowMs + policy.openMs) / TICK_MS) << STATE_BITS) | HALF_OPEN;
  const seen = Atomics.compareExchange(words, at + STATE, word, next);
  // Another worker came first, with a deadline of its own.
  if (seen !== word) return (seen & 3) === HALF_OPEN ? takeProbe(words, at, { policy, word: seen }) : REFUSED;
  return takeProbe(words, at, { policy, word: next });
}

/** Probes of another half-open time are void: the word of the probes says of which it is, and nobody has to clear it. */
function takeProbe(words: Int32Array, at: number, { policy, word }: { policy: BreakerPolicy; word: number }): number {
  for (;;) {
    const probes = Atomics.load(words, at + PROBES);
    const counts = countsOf(probes, word);
    // The state may have moved on before this, or on the way to the end.
    if (counts % GOOD_UNIT >= policy.probes || Atomics.load(words, at + STATE) !== word) return REFUSED;
    if (Atomics.compareExchange(words, at + PROBES, probes, probesOf(word, counts + 1)) === probes) {
      return Atomics.load(words, at + STATE) === word ? word : REFUSED;
    }
  }
}

/** Changes the counts of the half-open time that the token is of, and gives the new ones; 0 when that is over. */
function addToProbes(words: Int32Array, at: number, { token, by }: { token: number; by: number }): number {
  for (;;) {
    const probes = Atomics.load(words, at + PROBES);
    const counts = countsOf(probes, token);
    if (counts === 0) return 0;
    if (Atomics.compareExchange(words, at + PROBES, probes, probesOf(token, counts + by)) === probes)
      return counts + by;
  }
}

function probesOf(token: number, counts: number): number {
  return (timeOf(token) * TIME_UNIT + counts) | 0;
}

/** The counts in the word of the probes; 0 when they are of another half-open time. */
function countsOf(probes: number, token: number): number {
  return Math.floor((probes >>> 0) / TIME_UNIT) === timeOf(token) ? (probes >>> 0) % TIME_UNIT : 0;
}

/** Tells a half-open time from those before and after it: the low bits of its deadline. */
function timeOf(token: number): number {
  return (token >>> STATE_BITS) % 2 ** 12;
}

function openUntil(untilMs: number): number {
  return (Math.ceil(untilMs / TICK_MS) << STATE_BITS) | OPEN;
}

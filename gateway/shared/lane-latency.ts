// Moving averages of a latency, kept in a lane of a cell: a plain one, and one that believes peaks.
import { fadedPeakMs, peakEwma } from '../balancing/peak-average.ts';
import type { Cell } from './cell.ts';

/** How many numbers of a lane the averages take. */
export const LATENCY_NUMBERS = 5;

const AVERAGE_MS = 0;
const PEAK_MS = 1;
const SEEN_AT_MS = 2;
const EPOCH = 3;
const SAMPLES = 4;

/** The plain average is that of all samples up to this many; from then on the newest counts for one of so many. */
const MOST_SAMPLES = 10;

export interface LatencySample {
  readonly ms: number;
  readonly nowMs: number;
  /** Averages of an earlier epoch are forgotten. */
  readonly epoch: number;
  /** Whether somebody wants to know of peaks: they cost a little. */
  readonly isPeakSensitive: boolean;
}

/** Moves the averages that begin at `field` of the own lane. */
export function latencySeen(cell: Cell, field: number, { ms, nowMs, epoch, isPeakSensitive }: LatencySample): void {
  const isFirst = cell.own(field + SAMPLES) === 0 || cell.own(field + EPOCH) !== epoch;
  const samples = isFirst ? 1 : Math.min(MOST_SAMPLES, cell.own(field + SAMPLES) + 1);
  const averageMs = isFirst ? 0 : cell.own(field + AVERAGE_MS);
  cell.set(field + AVERAGE_MS, averageMs + (ms - averageMs) / samples);
  cell.set(field + SAMPLES, samples);
  if (isPeakSensitive) {
    const peakMs = isFirst ? 0 : cell.own(field + PEAK_MS);
    cell.set(field + PEAK_MS, peakEwma(peakMs, nowMs - cell.own(field + SEEN_AT_MS), ms));
  }
  cell.set(field + SEEN_AT_MS, nowMs);
  cell.set(field + EPOCH, epoch);
}

/** The plain average of this epoch over all lanes, in ms; 0 when there is none. A lane that saw little counts for little. */
export function meanLatencyMs(cell: Cell, field: number, epoch: number): number {
  let sum = 0;
  let seen = 0;
  for (let lane = 0; lane < cell.lanes; lane++) {
    if (cell.at(lane, field + EPOCH) !== epoch) continue;
    const samples = cell.at(lane, field + SAMPLES);
    seen += samples;
    sum += samples * cell.at(lane, field + AVERAGE_MS);
  }
  return seen === 0 ? 0 : sum / seen;
}

/** The highest of the lanes' peaks of this epoch, each faded by the time since its last sample; 0 when there is none. */
export function fadedLatencyMs(cell: Cell, field: number, { epoch, nowMs }: { epoch: number; nowMs: number }): number {
  let highest = 0;
  for (let lane = 0; lane < cell.lanes; lane++) {
    if (cell.at(lane, field + EPOCH) !== epoch) continue;
    const faded = fadedPeakMs(cell.at(lane, field + PEAK_MS), nowMs - cell.at(lane, field + SEEN_AT_MS));
    if (faded > highest) highest = faded;
  }
  return highest;
}

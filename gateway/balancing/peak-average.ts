// The latency that peak EWMA steers by: believes a peak at once, and forgets it slowly.

/** Latencies lose two thirds of their influence in this time. */
const DECAY_MS = 10_000;

/** After so many decay times what was seen says nothing any more (1/400 of it would be left). */
const MEMORY_DECAYS = 6;

/**
 * The average after a sample: a sample above it becomes the average, one below pulls it down by 1 − e^(−elapsed/decay).
 * `elapsedMs` is the time since the last sample. The first sample (`previousMs` 0) is the average. Source: Finagle's
 * PeakEwma (Twitter), which linkerd's balancer follows.
 */
export function peakEwma(previousMs: number, elapsedMs: number, sampleMs: number, decayMs = DECAY_MS): number {
  if (sampleMs >= previousMs) return sampleMs;
  const kept = Math.exp(-elapsedMs / decayMs);
  return previousMs * kept + sampleMs * (1 - kept);
}

/**
 * What an average counts for `elapsedMs` after its last sample: it fades towards 0, so that an endpoint which was slow
 * and therefore got no traffic is tried again; after six decay times it is 0, unknown. As Finagle and linkerd do, but
 * nothing needs to be written to read it.
 */
export function fadedPeakMs(averageMs: number, elapsedMs: number, decayMs = DECAY_MS): number {
  return elapsedMs > MEMORY_DECAYS * decayMs ? 0 : averageMs * Math.exp(-elapsedMs / decayMs);
}

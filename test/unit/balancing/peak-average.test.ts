import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fadedPeakMs, peakEwma } from '../../../gateway/balancing/peak-average.ts';

const ms = fc.double({ min: 0, max: 1e6, noNaN: true });

describe('the peak average', () => {
  it('begins with the first sample', () => {
    expect(peakEwma(0, 5000, 42)).toBe(42);
  });

  it('believes a peak at once', () => {
    expect(peakEwma(10, 1, 900)).toBe(900);
  });

  it('comes down by 1 − 1/e of the way in one decay time', () => {
    expect(peakEwma(100, 10_000, 20)).toBeCloseTo(20 + 80 / Math.E, 10);
    expect(peakEwma(100, 500, 20, 500)).toBeCloseTo(20 + 80 / Math.E, 10);
  });

  it('does not move for a lower sample in the same moment', () => {
    expect(peakEwma(100, 0, 20)).toBe(100);
  });

  it('comes down as far in many steps as in one', () => {
    let average = 100;
    for (let step = 0; step < 1000; step++) average = peakEwma(average, 10, 20);
    expect(average).toBeCloseTo(peakEwma(100, 10_000, 20), 6);
  });

  it('stays between the sample and what it was, or is the higher sample', () => {
    fc.assert(
      fc.property(ms, ms, ms, (previous, elapsed, sample) => {
        const average = peakEwma(previous, elapsed, sample);
        if (sample >= previous) expect(average).toBe(sample);
        else {
          expect(average).toBeLessThanOrEqual(previous * (1 + 1e-12));
          expect(average).toBeGreaterThanOrEqual(sample * (1 - 1e-12));
        }
      }),
    );
  });
});

describe('the fading of a peak average', () => {
  it('counts a third after one decay time without samples, and all of it at first', () => {
    expect(fadedPeakMs(90, 0)).toBe(90);
    expect(fadedPeakMs(90, 10_000)).toBeCloseTo(90 / Math.E, 10);
  });

  it('is what samples of 0 would make of it', () => {
    fc.assert(
      fc.property(ms, fc.double({ min: 0, max: 60_000, noNaN: true }), (average, elapsed) => {
        expect(fadedPeakMs(average, elapsed)).toBeCloseTo(peakEwma(average, elapsed, 0), 6);
      }),
    );
  });

  it('is unknown after six decay times', () => {
    expect(fadedPeakMs(90, 60_000)).toBeGreaterThan(0);
    expect(fadedPeakMs(90, 60_001)).toBe(0);
    expect(fadedPeakMs(90, 601, 100)).toBe(0);
  });
});

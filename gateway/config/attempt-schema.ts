// The sections of a route about its attempts: how long one may take, when there is another, when an endpoint is out.
import { choice, decimal, duration, list, percent, refuse, section, size, whole } from './fields.ts';

/** The `timeout` section. */
export const timeout = section({
  connect: duration().prefault('2s').describe('Until the connection to an endpoint stands.'),
  response: duration().prefault('30s').describe('From the sent request to the response head.'),
  idle: duration().prefault('60s').describe('Between two reads of the response body.'),
  total: duration({ off: true }).prefault('off').describe('All attempts together, or "off".'),
}).transform(({ connect, response, idle, total }) => {
  return { connectMs: connect, responseMs: response, idleMs: idle, totalMs: total };
});

/** The `retry` section. */
export const retry = section({
  attempts: whole({ min: 1, max: 10 }).default(3).describe('Attempts in all, each at another endpoint; 1 = no retry.'),
  on: list(choice(['connect', 'reset', 'timeout']), { of: 'connect, reset, timeout' })
    .default(['connect', 'reset', 'timeout'])
    .describe('Failures after which there is another attempt.'),
  statuses: list(whole({ min: 400, max: 599, of: 'a status' }), { of: 'statuses' })
    .default([502, 503, 504])
    .describe('Response statuses after which there is another attempt.'),
  bodyBuffer: size({ max: '64MiB' })
    .prefault('64KiB')
    .describe('Largest request body that is kept for another attempt.'),
  budget: percent({ off: true })
    .prefault('20%')
    .describe('Most retries, as a share of the requests of the last 10 seconds; "off" for any number.'),
  minPerSecond: whole({ min: 0, max: 1_000_000 })
    .default(3)
    .describe('Retries a second that the budget always allows, however few requests there are.'),
}).transform(({ attempts, on, statuses, bodyBuffer, budget, minPerSecond }) => {
  return { attempts, on, statuses, bodyBufferBytes: bodyBuffer, budgetPercent: budget, minPerSecond };
});

/** The `ejection` section. */
export const ejection = section({
  consecutiveFailures: whole({ min: 1, max: 1_000_000 }).default(5).describe('Failures in a row that eject.'),
  base: duration().prefault('5s').describe('Time of the first ejection; doubles with each that follows.'),
  max: duration().prefault('300s').describe('Longest time of an ejection.'),
  maxPercent: whole({ min: 0, max: 100 }).default(50).describe('Most of a pool that may be ejected, in percent.'),
  statuses: list(whole({ min: 500, max: 599, of: 'a status' }), { of: 'statuses' })
    .default([500, 502, 503, 504])
    .describe('Response statuses that count as failures.'),
  failurePercent: decimal({ min: 1, max: 100, off: true })
    .default(50)
    .describe('Share of failures in the window that ejects, in percent, or "off".'),
  minRequests: whole({ min: 1, max: 1_000_000 })
    .default(20)
    .describe(
      'Requests that an endpoint must have had in the window before its share, or its latency, means anything.',
    ),
  window: duration({ min: '1s', max: '10m' }).prefault('10s').describe('The time over which the share is taken.'),
  slowerThan: decimal({ min: 1.5, max: 1000, off: true })
    .default('off')
    .describe('How many times slower than the median of its pool an endpoint may be, or "off".'),
}).transform((keys, checking) => {
  const { base, max, window, failurePercent, slowerThan, ...rest } = keys;
  if (base > max) refuse(checking, { wrong: 'longer than ejection.max', path: ['base'] });
  const [ofFailures, ofLatency] = [orInfinity(failurePercent), orInfinity(slowerThan)];
  return { ...rest, failurePercent: ofFailures, slowerThan: ofLatency, windowMs: window, baseMs: base, maxMs: max };
});

function orInfinity(value: number | 'off'): number {
  return value === 'off' ? Number.POSITIVE_INFINITY : value;
}

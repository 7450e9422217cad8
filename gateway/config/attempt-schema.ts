// The sections of a route about its attempts: how long one may take, when there is another, when an endpoint is out.
import { choice, duration, list, notYet, offOnly, refuse, section, size, whole } from './fields.ts';

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
  budget: notYet,
  minPerSecond: notYet,
}).transform(({ attempts, on, statuses, bodyBuffer }) => ({ attempts, on, statuses, bodyBufferBytes: bodyBuffer }));

/** The `ejection` section. */
export const ejection = section({
  consecutiveFailures: whole({ min: 1, max: 1_000_000 }).default(5).describe('Failures in a row that eject.'),
  base: duration().prefault('5s').describe('Time of the first ejection; doubles with each that follows.'),
  max: duration().prefault('300s').describe('Longest time of an ejection.'),
  maxPercent: whole({ min: 0, max: 100 }).default(50).describe('Most of a pool that may be ejected, in percent.'),
  statuses: list(whole({ min: 500, max: 599, of: 'a status' }), { of: 'statuses' })
    .default([500, 502, 503, 504])
    .describe('Response statuses that count as failures.'),
  failurePercent: notYet,
  minRequests: notYet,
  window: notYet,
  slowerThan: offOnly.default('off').describe('Ejection of slow endpoints; only "off" works in this version.'),
}).transform(({ consecutiveFailures, base, max, maxPercent, statuses }, checking) => {
  if (base > max) refuse(checking, { wrong: 'longer than ejection.max', path: ['base'] });
  return { consecutiveFailures, baseMs: base, maxMs: max, maxPercent, statuses };
});

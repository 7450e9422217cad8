// The sections of a route about too much: the breaker, rate limits, and how many requests may run at once.
import { z } from 'zod';
import { parseRate } from '../core/units.ts';
import { checkKeyName, keyName } from './balance-schema.ts';
import { choice, decimal, duration, refuse, section, text, whole } from './fields.ts';
import { fieldName } from './http-fields.ts';

const share = z.number({ error: 'a number from 1 to 100' }).min(1, { error: 'a number from 1 to 100' }).max(100, {
  error: 'a number from 1 to 100',
});

/** The `breaker` section when it is not "off". */
export const breaker = section({
  failurePercent: share.default(50).describe('Share of failures in the window that opens the breaker, in percent.'),
  minRequests: whole({ min: 1, max: 1_000_000 }).default(20).describe('Attempts that the window must have.'),
  window: duration({ min: '1s', max: '10m' }).prefault('10s').describe('The time over which the share is taken.'),
  open: duration({ min: '100ms' }).prefault('5s').describe('How long no request is let through.'),
  probes: whole({ min: 1, max: 1000 }).default(3).describe('Requests that are then let through; all must be good.'),
}).transform(({ window, open, ...rest }) => ({ ...rest, windowMs: window, openMs: open }));

const rate = text('a rate like 100/s, 5/m or 10/30s', parseRate);

/** A sliding window counts in shared memory with 32 bits, a bucket in ticks of a quarter of a microsecond. */
const MAX_PER_MS = 1000;

/** The longest time of a rate, and the longest that a leaky bucket may let a request wait: timers end not far above. */
const MAX_TIME_MS = 24 * 3_600_000;

/** One of the `rateLimit` list. */
export const rateLimit = section({
  algorithm: choice(['token_bucket', 'leaky_bucket', 'sliding_window'])
    .default('token_bucket')
    .describe('token_bucket lets bursts through, leaky_bucket spaces requests evenly, sliding_window never lets more.'),
  key: choice(['client_ip', 'header', 'cookie', 'route'])
    .default('client_ip')
    .describe('What is limited: each client address (IPv6 by /64), each value of a header or cookie, or the route.'),
  name: fieldName.exactOptional().describe('Of the header or the cookie; requests without it are counted together.'),
  rate: rate.describe('Requests and the time for them, like 100/s.'),
  burst: whole({ min: 0, max: 1_000_000 })
    .exactOptional()
    .describe(
      'Requests at once (token_bucket), or requests that may wait (leaky_bucket); absent: as many as the rate.',
    ),
}).transform(({ algorithm, key, name = null, rate, burst = null }, checking) => {
  checkKeyName({ on: key, name, mayBeNamed: false }, checking);
  if (rate.count > rate.periodMs * MAX_PER_MS) {
    refuse(checking, { wrong: 'out of range', expected: 'at most 1000000/s', path: ['rate'] });
  }
  if (rate.periodMs > MAX_TIME_MS) {
    refuse(checking, { wrong: 'out of range', expected: 'a time of at most 24h', path: ['rate'] });
  }
  if (algorithm === 'sliding_window' && burst !== null) {
    refuse(checking, { wrong: 'has no effect with sliding_window', path: ['burst'], at: 'key' });
  }
  if (algorithm === 'leaky_bucket' && (burst ?? 0) * rate.periodMs > MAX_TIME_MS * rate.count) {
    refuse(checking, { wrong: 'out of range', expected: 'so many that none waits for more than 24h', path: ['burst'] });
  }
  if (algorithm === 'token_bucket' && burst === 0) {
    refuse(checking, { wrong: 'lets nothing through', expected: 'at least 1', path: ['burst'] });
  }
  return { algorithm, key, name: keyName(key, name), ...rate, burst };
});

/** The `concurrency` section; null when it limits nothing. */
export const concurrency = section({
  max: decimal({ min: 1, max: 1_000_000, off: true }).default('off').describe('Requests at once, or "off".'),
  queue: whole({ min: 0, max: 1_000_000 }).default(0).describe('Requests that may wait for a place.'),
  queueTimeout: duration().prefault('1s').describe('How long one waits.'),
}).transform(({ max, queue, queueTimeout }, checking) => {
  if (max === 'off') {
    if (queue > 0) refuse(checking, { wrong: 'has no effect', expected: 'max to be set as well', path: ['queue'] });
    return null;
  }
  if (!Number.isInteger(max)) refuse(checking, { wrong: 'not a whole number', path: ['max'] });
  return { max, queue, queueTimeoutMs: queueTimeout };
});

// The sections of a route about too much: what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { checkRoute, problemLines, valid } from './checking.ts';

const BREAKER = { failurePercent: 50, minRequests: 20, windowMs: 10_000, openMs: 5000, probes: 3 };
const RATE = { algorithm: 'token_bucket', key: 'client_ip', name: null, count: 100, periodMs: 1000, burst: null };

describe('accepted values', () => {
  it.each([
    ['breaker: off', ['breaker'], null],
    ['breaker: {}', ['breaker'], BREAKER],
    [
      'breaker: { failurePercent: 12.5, minRequests: 1, window: 1s, open: 100ms, probes: 1000 }',
      ['breaker'],
      { failurePercent: 12.5, minRequests: 1, windowMs: 1000, openMs: 100, probes: 1000 },
    ],
    ['breaker: { window: 10m }', ['breaker', 'windowMs'], 600_000],
    ['rateLimit: [{ rate: 100/s }]', ['rateLimit'], [RATE]],
    ['rateLimit: [{ rate: 5/m }]', ['rateLimit', 0], { ...RATE, count: 5, periodMs: 60_000 }],
    ['rateLimit: [{ rate: 10/30s, burst: 20 }]', ['rateLimit', 0], { ...RATE, count: 10, periodMs: 30_000, burst: 20 }],
    ['rateLimit: [{ rate: 1000000/s }]', ['rateLimit', 0, 'count'], 1_000_000],
    ['rateLimit: [{ rate: 1/24h }]', ['rateLimit', 0, 'periodMs'], 86_400_000],
    [
      'rateLimit: [{ rate: 100/s, algorithm: leaky_bucket, burst: 0 }]',
      ['rateLimit', 0],
      { ...RATE, algorithm: 'leaky_bucket', burst: 0 },
    ],
    ['rateLimit: [{ rate: 1/h, algorithm: leaky_bucket, burst: 24 }]', ['rateLimit', 0, 'burst'], 24],
    ['rateLimit: [{ rate: 100/s, algorithm: sliding_window, key: route }]', ['rateLimit', 0, 'key'], 'route'],
    ['rateLimit: [{ rate: 100/s, key: header, name: X-Api-Key }]', ['rateLimit', 0, 'name'], 'x-api-key'],
    ['rateLimit: [{ rate: 100/s, key: cookie, name: Sid }]', ['rateLimit', 0, 'name'], 'Sid'],
    ['concurrency: {}', ['concurrency'], null],
    ['concurrency: { max: 10 }', ['concurrency'], { max: 10, queue: 0, queueTimeoutMs: 1000 }],
    [
      'concurrency: { max: 1, queue: 1000000, queueTimeout: 250ms }',
      ['concurrency'],
      { max: 1, queue: 1_000_000, queueTimeoutMs: 250 },
    ],
  ])('%s', (text, path, value) => {
    expect(valid(checkRoute(`service: a\n${text}`))).toHaveProperty(path, value);
  });

  it('several limits, in their order', () => {
    const { rateLimit } = valid(checkRoute('service: a\nrateLimit: [{ rate: 9/s }, { rate: 99/m }, { rate: 9/s }]'));
    expect(rateLimit.map(({ count, periodMs }) => [count, periodMs])).toEqual([
      [9, 1000],
      [99, 60_000],
      [9, 1000],
    ]);
  });

  it('numbers from variables', () => {
    const text = `service: a\nconcurrency: { max: "\${MAX}" }\nbreaker: { failurePercent: "\${SHARE}" }`;
    expect(valid(checkRoute(text, { MAX: '7', SHARE: '12.5' }))).toMatchObject({
      concurrency: { max: 7 },
      breaker: { failurePercent: 12.5 },
    });
  });
});

describe('refused values, each with its place and what was expected', () => {
  const breaker = 'expected off, or a mapping with failurePercent, minRequests, window, open, probes';
  const share = 'expected a number from 1 to 100';
  const rate = 'expected a rate like 100/s, 5/m or 10/30s';
  const max = 'expected a number from 1 to 1000000, or off';
  const million = 'expected a whole number from 0 to 1000000';

  it.each([
    ['breaker: on', `2:10 breaker: not valid, ${breaker}`],
    ['breaker: true', `2:10 breaker: not valid, ${breaker}`],
    ['breaker: { failurePercent: 0 }', `2:28 breaker.failurePercent: out of range, ${share}`],
    ['breaker: { failurePercent: 101 }', `2:28 breaker.failurePercent: out of range, ${share}`],
    ['breaker: { failurePercent: 50% }', `2:28 breaker.failurePercent: wrong type (text), ${share}`],
    [
      'breaker: { minRequests: 0 }',
      '2:25 breaker.minRequests: out of range, expected a whole number from 1 to 1000000',
    ],
    ['breaker: { window: 500ms }', '2:20 breaker.window: out of range, expected 1s to 10m'],
    ['breaker: { window: 11m }', '2:20 breaker.window: out of range, expected 1s to 10m'],
    ['breaker: { open: 50ms }', '2:18 breaker.open: out of range, expected 100ms to 576h'],
    ['breaker: { open: off }', '2:18 breaker.open: not valid, expected a duration like 5s or 250ms'],
    ['breaker: { probes: 0 }', '2:20 breaker.probes: out of range, expected a whole number from 1 to 1000'],
    ['breaker: { probes: 1001 }', '2:20 breaker.probes: out of range, expected a whole number from 1 to 1000'],
    ['breaker: { probe: 3 }', '2:12 breaker.probe: unknown key, did you mean "probes"?'],
    ['brekaer: off', '2:1 brekaer: unknown key, did you mean "breaker"?'],
    ['rateLimit: { rate: 1/s }', '2:12 rateLimit: wrong type (a mapping), expected a list of limits, each with a rate'],
    ['rateLimits: []', '2:1 rateLimits: unknown key, did you mean "rateLimit"?'],
    ['rateLimit: [{}]', `2:13 rateLimit[0].rate: missing, ${rate}`],
    ['rateLimit: [{ rate: 100 }]', `2:21 rateLimit[0].rate: wrong type (a number), ${rate}`],
    ['rateLimit: [{ rate: 100 per second }]', `2:21 rateLimit[0].rate: not valid, ${rate}`],
    ['rateLimit: [{ rate: 0/s }]', `2:21 rateLimit[0].rate: not valid, ${rate}`],
    ['rateLimit: [{ rate: 1.5/s }]', `2:21 rateLimit[0].rate: not valid, ${rate}`],
    ['rateLimit: [{ rate: 1/.5s }]', `2:21 rateLimit[0].rate: not valid, ${rate}`],
    ['rateLimit: [{ rate: 1/25h }]', '2:21 rateLimit[0].rate: out of range, expected a time of at most 24h'],
    ['rateLimit: [{ rate: 1000001/s }]', '2:21 rateLimit[0].rate: out of range, expected at most 1000000/s'],
    [
      'rateLimit: [{ algorithm: fixed_window, rate: 1/s }]',
      '2:26 rateLimit[0].algorithm: unknown value, expected token_bucket, leaky_bucket or sliding_window',
    ],
    [
      'rateLimit: [{ key: ip, rate: 1/s }]',
      '2:20 rateLimit[0].key: unknown value, expected client_ip, header, cookie or route',
    ],
    [
      'rateLimit: [{ key: header, rate: 1/s }]',
      '2:13 rateLimit[0]: a key from a header, expected name to be set as well',
    ],
    [
      'rateLimit: [{ key: cookie, rate: 1/s }]',
      '2:13 rateLimit[0]: a key from a cookie, expected name to be set as well',
    ],
    ['rateLimit: [{ name: x, rate: 1/s }]', '2:15 rateLimit[0].name: has no effect with client_ip'],
    ['rateLimit: [{ key: route, name: x, rate: 1/s }]', '2:27 rateLimit[0].name: has no effect with route'],
    [
      'rateLimit: [{ algorithm: sliding_window, rate: 1/s, burst: 2 }]',
      '2:53 rateLimit[0].burst: has no effect with sliding_window',
    ],
    ['rateLimit: [{ rate: 1/s, burst: 0 }]', '2:33 rateLimit[0].burst: lets nothing through, expected at least 1'],
    ['rateLimit: [{ rate: 1/s, burst: 1.5 }]', `2:33 rateLimit[0].burst: not valid, ${million}`],
    [
      'rateLimit: [{ algorithm: leaky_bucket, rate: 1/h, burst: 25 }]',
      '2:58 rateLimit[0].burst: out of range, expected so many that none waits for more than 24h',
    ],
    ['rateLimit: [{ rate: 1/s, brust: 2 }]', '2:26 rateLimit[0].brust: unknown key, did you mean "burst"?'],
    ['concurrency: 10', '2:14 concurrency: wrong type (a number), expected a mapping with max, queue, queueTimeout'],
    ['concurrency: { max: 0 }', `2:21 concurrency.max: out of range, ${max}`],
    ['concurrency: { max: 1.5 }', '2:21 concurrency.max: not a whole number'],
    ['concurrency: { max: ten }', `2:21 concurrency.max: not valid, ${max}`],
    ['concurrency: { queue: 5 }', '2:23 concurrency.queue: has no effect, expected max to be set as well'],
    ['concurrency: { max: 5, queue: -1 }', `2:31 concurrency.queue: out of range, ${million}`],
    [
      'concurrency: { max: 5, queueTimeout: 1 }',
      '2:38 concurrency.queueTimeout: wrong type (a number), expected a duration like 5s or 250ms',
    ],
  ])('%s', (text, problem) => {
    expect(problemLines(checkRoute(`service: a\n${text}`))).toEqual([`r.yaml:${problem}`]);
  });
});

// What h2load says, as figures.
import { describe, expect, it } from 'vitest';
import { readH2load } from '../../../bench/support/h2load.ts';

function summary(requests: string, statuses: string): string {
  return `starting benchmark...
TLS Protocol: TLSv1.3
Application protocol: h2

finished in 2.01s, 5024.50 req/s, 613.61KB/s
requests: ${requests}
status codes: ${statuses}
traffic: 1.20MB (1256669) total, 78.82KB (80716) headers (space savings 90.77%), 971.53KB (994851) data
                     min         max         mean         sd        +/- sd
time for request:    11.41ms    482.40ms     78.58ms     86.87ms    90.16%
`;
}

const GOOD = summary(
  '10049 total, 10449 started, 10049 done, 10049 succeeded, 0 failed, 0 errored, 0 timeout',
  '10049 2xx, 0 3xx, 0 4xx, 0 5xx',
);

describe('readH2load', () => {
  it('gives answers, rate and latencies in milliseconds, whatever the order of the log', () => {
    const log = Array.from({ length: 1000 }, (_, at) => `1796007010071605\t200\t${(1000 - at) * 1000}\n`).join('');
    const result = readH2load(GOOD, log);
    expect(result).toEqual({ requests: 10_049, perSecond: 5024.5, p50Ms: 500, p99Ms: 990, p999Ms: 999, errors: 0 });
  });

  it('counts an answer of 5xx as an answer and an error, and a broken stream as an error alone', () => {
    const said = summary(
      '100 total, 104 started, 100 done, 90 succeeded, 10 failed, 3 errored, 0 timeout',
      '90 2xx, 0 3xx, 0 4xx, 7 5xx',
    );
    expect(readH2load(said, '1\t200\t1000\n')).toMatchObject({ requests: 97, errors: 10 });
  });

  it('leaves the time of a broken stream out of the latencies', () => {
    expect(readH2load(GOOD, '1\t200\t1000\n2\t-1\t9000000\n3\t503\t2000\n')).toMatchObject({ p50Ms: 1, p999Ms: 2 });
  });

  it('says that there is no result where h2load could not begin', () => {
    expect(() => readH2load('starting benchmark...\nClient could not connect', '')).toThrow('says no result');
  });

  it('reads a run without an answer', () => {
    const said = GOOD.replace(/finished .*/, 'finished in 2.00s, 0.00 req/s, 0B/s').replaceAll('10049', '0');
    expect(readH2load(said, '')).toMatchObject({ requests: 0, perSecond: 0, p50Ms: 0, errors: 0 });
  });
});

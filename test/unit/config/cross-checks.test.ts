// What only shows when route files are looked at together: routes of one service must agree on what it shares.
import { describe, expect, it } from 'vitest';
import { crossProblems } from '../../../gateway/config/cross-checks.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';
import { loadedFrom } from './loading.ts';

/** What is wrong with the routes r0, r1 and so on, from their texts without the service `s`. */
function problemsOf(...texts: string[]): string[] {
  return problemsAmong(Object.fromEntries(texts.map((text, number) => [`r${number}.yaml`, `service: s\n${text}`])));
}

function problemsAmong(routes: Readonly<Record<string, string>>): string[] {
  const problems = crossProblems(loadedFrom({ routes }).routes, () => []);
  return problems.map(({ problem }) => formatProblem(problem).replaceAll('routes/', ''));
}

describe('routes of one service', () => {
  it.each([
    ['ejection', 'ejection: { maxPercent: 40 }', 'ejection: { maxPercent: 50 }'],
    ['ejection', 'ejection: { slowerThan: 3 }', 'ejection: { slowerThan: 4 }'],
    ['ejection', 'ejection: { failurePercent: off }', 'ejection: { failurePercent: 100 }'],
    ['slowStart', 'slowStart: { window: 10s }', 'slowStart: { window: 11s }'],
    ['breaker', 'breaker: { probes: 1 }', 'breaker: off'],
    ['breaker', 'breaker: { probes: 1 }', 'breaker: { probes: 2 }'],
  ])('must agree on %s: %s, %s', (section, one, other) => {
    const expected = `the same service has another ${section} in`;
    expect(problemsOf(one, other)).toEqual([
      `r0.yaml:2:1 ${section}: ${expected} r1.yaml, expected all routes of a service to agree`,
      `r1.yaml:2:1 ${section}: ${expected} r0.yaml, expected all routes of a service to agree`,
    ]);
  });

  it('must agree with what is the default of one that says nothing', () => {
    expect(problemsOf('', 'breaker: {}').map((line) => line.split(',')[0])).toEqual([
      'r0.yaml:1:1 breaker: the same service has another breaker in r1.yaml',
      'r1.yaml:2:1 breaker: the same service has another breaker in r0.yaml',
    ]);
  });

  it.each([
    [
      'the same in other words',
      'ejection: { base: 60s, max: 5m }',
      'ejection: { max: 300s, base: 1m, maxPercent: 50 }',
    ],
    ['the defaults, written out or not', '', 'breaker: off\nslowStart: { window: off }\nejection: {}'],
    ['other failure statuses, judged by request', 'ejection: { statuses: [500] }', 'ejection: { statuses: [] }'],
    ['other retries, balancing, limits and fallbacks', 'retry: { attempts: 1 }', 'rateLimit: [{ rate: 1/s }]'],
    ['other subsets and splits', 'subset: { tags: [a] }', 'split: [{ weight: 1 }]'],
  ])('may have %s', (_what, one, other) => {
    expect(problemsOf(one, other)).toEqual([]);
  });

  it('are told of every section in which they differ, and of one other route each', () => {
    const lines = problemsOf('breaker: {}\nslowStart: { window: 1s }', '', '');
    expect(lines.map((line) => line.split(', ')[0])).toEqual([
      'r0.yaml:3:1 slowStart: the same service has another slowStart in r1.yaml',
      'r0.yaml:2:1 breaker: the same service has another breaker in r1.yaml',
      'r1.yaml:1:1 slowStart: the same service has another slowStart in r0.yaml',
      'r1.yaml:1:1 breaker: the same service has another breaker in r0.yaml',
      'r2.yaml:1:1 slowStart: the same service has another slowStart in r0.yaml',
      'r2.yaml:1:1 breaker: the same service has another breaker in r0.yaml',
    ]);
  });

  it('that are not valid are not compared', () => {
    expect(problemsOf('breaker: {}', 'breaker: { probes: 0 }')).toEqual([]);
  });
});

describe('routes of different services', () => {
  it('need not agree on anything', () => {
    const routes = { 'a.yaml': 'service: a\nbreaker: {}', 'b.yaml': 'service: b\nslowStart: { window: 1s }' };
    expect(problemsAmong(routes)).toEqual([]);
  });
});

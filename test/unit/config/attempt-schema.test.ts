// The sections of a route about its attempts: what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { checkRoute, problemLines, valid } from './checking.ts';

const OFF = Number.POSITIVE_INFINITY;

describe('accepted values', () => {
  it.each([
    [
      'retry: { attempts: 1, on: [], statuses: [], bodyBuffer: 0B, budget: 0%, minPerSecond: 0 }',
      ['retry'],
      { attempts: 1, on: [], statuses: [], bodyBufferBytes: 0, budgetPercent: 0, minPerSecond: 0 },
    ],
    ['retry: { budget: off }', ['retry', 'budgetPercent'], OFF],
    ['retry: { budget: 100% }', ['retry', 'budgetPercent'], 100],
    ['retry: { on: [timeout] }', ['retry', 'on'], ['timeout']],
    ['retry: { statuses: [429, 500, 599] }', ['retry', 'statuses'], [429, 500, 599]],
    ['ejection: { base: 1s, max: 1s, maxPercent: 0 }', ['ejection', 'maxMs'], 1000],
    ['ejection: { failurePercent: off }', ['ejection', 'failurePercent'], OFF],
    ['ejection: { failurePercent: 12.5 }', ['ejection', 'failurePercent'], 12.5],
    ['ejection: { slowerThan: 1.5 }', ['ejection', 'slowerThan'], 1.5],
    ['ejection: { minRequests: 1, window: 10m }', ['ejection', 'windowMs'], 600_000],
    ['ejection: { consecutiveFailures: 1000000 }', ['ejection', 'consecutiveFailures'], 1_000_000],
    ['ejection: { statuses: [] }', ['ejection', 'statuses'], []],
  ])('%s', (text, path, value) => {
    expect(valid(checkRoute(`service: a\n${text}`))).toHaveProperty(path, value);
  });

  it('numbers from variables, beside the word "off"', () => {
    const text = `service: a\nejection: { failurePercent: "\${SHARE}", slowerThan: "\${TIMES:-off}" }`;
    expect(valid(checkRoute(text, { SHARE: '25' })).ejection).toMatchObject({ failurePercent: 25, slowerThan: OFF });
  });
});

describe('refused values, each with its place and what was expected', () => {
  const million = 'expected a whole number from 0 to 1000000';
  const share = 'expected a share like 20%, or off';
  const percent = 'expected a number from 1 to 100, or off';

  it.each([
    ['retry: { attempts: 0 }', '2:20 retry.attempts: out of range, expected a whole number from 1 to 10'],
    [
      'retry: { on: [conect] }',
      '2:15 retry.on[0]: unknown value, expected connect, reset or timeout, did you mean "connect"?',
    ],
    ['retry: { on: [status] }', '2:15 retry.on[0]: unknown value, expected connect, reset or timeout'],
    ['retry: { statuses: [200] }', '2:21 retry.statuses[0]: out of range, expected a status from 400 to 599'],
    ['retry: { budget: 20 }', `2:18 retry.budget: wrong type (a number), ${share}`],
    ['retry: { budget: 101% }', `2:18 retry.budget: not valid, ${share}`],
    ['retry: { budget: none }', `2:18 retry.budget: not valid, ${share}`],
    ['retry: { minPerSecond: -1 }', `2:24 retry.minPerSecond: out of range, ${million}`],
    ['retry: { minPerSecond: 1.5 }', `2:24 retry.minPerSecond: not valid, ${million}`],
    ['ejection: { statuses: [404] }', '2:24 ejection.statuses[0]: out of range, expected a status from 500 to 599'],
    ['ejection: { base: 10m }', '2:19 ejection.base: longer than ejection.max'],
    [
      'ejection: { maxPercent: 50% }',
      '2:25 ejection.maxPercent: wrong type (text), expected a whole number from 0 to 100',
    ],
    ['ejection: { failurePercent: 0 }', `2:29 ejection.failurePercent: out of range, ${percent}`],
    ['ejection: { failurePercent: 50% }', `2:29 ejection.failurePercent: not valid, ${percent}`],
    [
      'ejection: { minRequests: 0 }',
      '2:26 ejection.minRequests: out of range, expected a whole number from 1 to 1000000',
    ],
    ['ejection: { window: 0.5s }', '2:21 ejection.window: out of range, expected 1s to 10m'],
    ['ejection: { window: off }', '2:21 ejection.window: not valid, expected a duration like 5s or 250ms'],
    [
      'ejection: { slowerThan: 1 }',
      '2:25 ejection.slowerThan: out of range, expected a number from 1.5 to 1000, or off',
    ],
    [
      'ejection: { consecutiveFailures: 0 }',
      '2:34 ejection.consecutiveFailures: out of range, expected a whole number from 1 to 1000000',
    ],
  ])('%s', (text, problem) => {
    expect(problemLines(checkRoute(`service: a\n${text}`))).toEqual([`r.yaml:${problem}`]);
  });
});

// How problems are written for people.
import { describe, expect, it } from 'vitest';
import { formatPath, formatProblem } from '../../../gateway/config/problem.ts';

describe('formatProblem', () => {
  const place = { file: 'routes/a.yaml', line: 3, column: 5 };

  it('writes place, key, what is wrong, what was expected and what was meant in one line', () => {
    const problem = { ...place, key: 'retry.on', message: 'unknown value', expected: 'connect', suggestion: 'connect' };
    expect(formatProblem(problem)).toBe(
      'routes/a.yaml:3:5 retry.on: unknown value, expected connect, did you mean "connect"?',
    );
  });

  it('leaves out what there is not', () => {
    expect(formatProblem({ ...place, key: '', message: 'no such file' })).toBe('routes/a.yaml:3:5: no such file');
  });
});

describe('formatPath', () => {
  it.each([
    [[], ''],
    [['retry', 'on', 2], 'retry.on[2]'],
    [['match', 0, 'headers', 'x-a'], 'match[0].headers.x-a'],
    [['meta', 'a b'], 'meta["a b"]'],
    [['a\u001b[2J\n'], '["a\\u001b[2J\\n"]'],
    [['\u009b'], '["\\u009b"]'],
  ])('writes %j as %s', (path, written) => {
    expect(formatPath(path)).toBe(written);
  });
});

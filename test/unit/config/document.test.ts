// YAML as text: what is refused before any schema, and where problems are placed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConfigDocument, readDocument } from '../../../gateway/config/document.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';
import { checkGateway, checkRoute } from './checking.ts';

function linesOf({ problems }: Pick<ConfigDocument, 'problems'>): string[] {
  return problems.map(formatProblem);
}

describe('readDocument', () => {
  it.each(['', '\n', '# only a comment\n', '---\n', '\uFEFF'])('reads nothing from %j', (text) => {
    expect(readDocument('f', text, {})).toMatchObject({ value: null, isReadable: true, problems: [] });
  });

  it('reads off, on, yes and no as text, and keys as text', () => {
    expect(readDocument('f', '{ total: off, on: yes, 1: no }', {}).value).toEqual({ total: 'off', on: 'yes', 1: 'no' });
  });

  it('keeps that also when a file asks for YAML 1.1', () => {
    expect(readDocument('f', '%YAML 1.1\n---\ntotal: off\n', {}).value).toEqual({ total: 'off' });
  });

  it('resolves aliases', () => {
    expect(readDocument('f', 'a: &x [1]\nb: *x', {}).value).toEqual({ a: [1], b: [1] });
  });

  it.each([
    ['a: 1\nb: 2\na: 3\na: 4', ['f:3:1 a: duplicate key', 'f:4:1 a: duplicate key']],
    ['a: { b: 1, "b": 2 }', ['f:1:12 a.b: duplicate key']],
    ['1: x\n"1": y', ['f:2:1 1: duplicate key']],
    ['- { x: 1 }\n- x: 1\n  x: 2', ['f:3:3 [1].x: duplicate key']],
    ['a: 1\n__proto__: { b: 1 }', ['f:2:1 __proto__: unknown key']],
    ['a: !!str 1', ['f:1:10 a: YAML tags are not allowed']],
    ['a: !secret x', ['f:1:12 a: YAML tags are not allowed']],
    ['a: !e!x y', ['f:1:4: YAML tags are not allowed']],
    ['a: !!map { b: 1 }', ['f:1:10 a: YAML tags are not allowed']],
    ['a: 1\n---\nb: 2', ['f:2:1: more than one YAML document in the file']],
    ['a: "x', ['f:1:6: not YAML: missing closing "quote']],
    ['a: [1, 2', ['f:1:9: not YAML: flow sequence in block collection must be sufficiently indented and end with a ]']],
    ['a: *nowhere\na: 1', ['f:1:4 a: an alias of nothing', 'f:2:1 a: duplicate key']],
    [
      '*a{b\r\n0, ',
      [
        'f:1:3: not YAML: unexpected flow-map-start at node end',
        'f:1:4: not YAML: unexpected scalar at node end',
        'f:2:2: not YAML: unexpected comma token in YAML stream',
        'f:1:1: an alias of nothing',
      ],
    ],
    ['a: &a [1, { b: *a }]', ['f:1:16 a[1].b: an alias of itself']],
    ['a:\n\tb: 1', ['f:2:1: not YAML: tabs are not allowed as indentation']],
    ['? [a, b]\n: c', ['f:1:3: not YAML: with stringKeys, all keys must be strings']],
  ])('says of %j what is wrong and where', (text, lines) => {
    expect(linesOf(readDocument('f', text, {}))).toEqual(lines);
  });

  it('refuses aliases that multiply', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    const bomb = ['l0: &l0 [x]', ...levels].join('\n');
    expect(linesOf(readDocument('f', bomb, {}))).toEqual(['f:1:1: aliases that multiply']);
  });

  it('refuses bottomless nesting', () => {
    const messages = readDocument('f', '['.repeat(100_000), {}).problems.map(({ message }) => message);
    expect(new Set(messages)).toEqual(new Set(['nested too deeply']));
  });

  it('never quotes the file when it is not YAML: it could be a secret', () => {
    const texts = [
      'token: "\\xhunter2"',
      'token: @hunter2',
      'token: | hunter2',
      'token: *hunter2',
      'a: !hunter2 b',
      '}hunter2',
    ];
    for (const text of texts) {
      const lines = linesOf(readDocument('f', text, {}));
      expect(lines).not.toEqual([]);
      expect(lines.join('\n')).not.toContain('hunter2');
    }
  });
});

describe('any text at all', () => {
  const word = fc.constantFrom(
    'service',
    'match',
    'hosts',
    'listen',
    'retry',
    'timeout',
    'workers',
    'endpoints',
    '',
    '&a',
    '*a',
  );
  const mark = fc.constantFrom(
    ': ',
    ': ',
    '\n',
    '\n  ',
    '\n- ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '"',
    '#',
    '|',
    '!x ',
    '${',
    '\t',
    '\r\n',
  );
  const yamlish = fc
    .array(fc.oneof(word, mark, fc.string({ maxLength: 4 }), fc.integer().map(String)))
    .map((all) => all.join(''));
  const plain = fc.anything({ withNullPrototype: false, maxDepth: 3 }).map((value) => JSON.stringify(value) ?? '');

  it('is checked without an exception, and every problem has its place inside the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), yamlish, plain), (text) => {
        const rows = text.split(/\r?\n/);
        for (const result of [checkGateway(text), checkRoute(text)]) {
          for (const { line, column, message } of result.ok ? [] : result.problems) {
            expect(message).not.toBe('');
            expect(line).toBeGreaterThanOrEqual(1);
            expect(line).toBeLessThanOrEqual(rows.length);
            expect(column).toBeGreaterThanOrEqual(1);
            expect(column).toBeLessThanOrEqual((rows[line - 1]?.length ?? 0) + 2);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});

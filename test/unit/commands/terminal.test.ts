import { describe, expect, it } from 'vitest';
import { alignRows, drawn, paintFor } from '../../../gateway/commands/terminal.ts';

const plain = paintFor(false, {});
const coloured = paintFor(true, { TERM: 'xterm' });

describe('what a terminal shows', () => {
  it.each([
    [true, {}, true],
    [true, { NO_COLOR: '' }, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
  ])('has colours: terminal %j with %j: %j', (isTerminal, environment, isColoured) => {
    const painted = paintFor(isTerminal, environment)('text', 'red');
    expect(painted).toBe(isColoured ? '\u001b[31mtext\u001b[0m' : 'text');
  });

  it('has columns as wide as their widest cell, numbers at the right end, and nothing behind the last', () => {
    const rows = [
      [{ text: 'NAME' }, { text: 'N', isNumber: true }, { text: 'WHY' }],
      [{ text: 'größer' }, { text: '1000', isNumber: true }, { text: '' }],
      [{ text: 'x' }, { text: '5', isNumber: true }, { text: 'because' }],
    ];
    expect(alignRows(rows, plain)).toEqual(['NAME       N  WHY', 'größer  1000', 'x          5  because']);
    expect(alignRows([], plain)).toEqual([]);
  });

  it('is aligned alike with colours', () => {
    const rows = [
      [{ text: 'a', style: 'red' as const }, { text: 'b' }],
      [{ text: 'long' }, { text: 'b' }],
    ];
    expect(alignRows(rows, coloured)).toEqual(['\u001b[31ma\u001b[0m     b', 'long  b']);
  });

  it('is drawn over what was there, line by line, and never beyond the last row', () => {
    expect(drawn(['one', 'two'], 24)).toBe('\u001b[Hone\u001b[K\ntwo\u001b[K\n\u001b[J');
    const text = drawn(['1', '2', '3', '4', '5'], 4);
    expect(text.split('\n')).toHaveLength(4);
    expect(text).toContain('2\u001b[K\n... and 3 more lines (--service NAME shows one service)\u001b[K\n');
  });
});

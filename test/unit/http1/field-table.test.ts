import { describe, expect, it } from 'vitest';
import { FIELD } from '../../../gateway/http1/field-id.ts';
import { FieldTable } from '../../../gateway/http1/field-table.ts';
import { CONTROLS, judgeFields, OCTETS, octetOf, pairsOf, TOKEN, tableOf } from './parsing.ts';

describe('a field name', () => {
  it('is made of token octets; every other octet in it is refused', () => {
    const accepted = OCTETS.map(octetOf).filter((octet) => typeof judgeFields(`X${octet}Y: 1\r\n`) !== 'string');
    // A colon ends the name: `X:Y: 1` is the field X with the value `Y: 1`.
    expect(accepted.sort()).toEqual([...TOKEN, ':'].sort());
  });

  it('is made of token octets in its first place as well', () => {
    const accepted = OCTETS.map(octetOf).filter((octet) => typeof judgeFields(`${octet}X: 1\r\n`) !== 'string');
    expect(accepted.sort()).toEqual([...TOKEN].sort());
  });

  it.each([
    [': 1\r\n', 'malformed field name'],
    ['\r\n', 'malformed field name'],
    ['X\r\n', 'malformed field name'],
    ['X Y: 1\r\n', 'space before colon'],
    ['X : 1\r\n', 'space before colon'],
    ['X\t: 1\r\n', 'space before colon'],
    ['Content-Length : 3\r\n', 'space before colon'],
    ['Transfer-Encoding : chunked\r\n', 'space before colon'],
    [' X: 1\r\n', 'folded line'],
    ['\tX: 1\r\n', 'folded line'],
    [' \r\n', 'folded line'],
    ['A: 1\r\n b\r\n', 'folded line'],
    ['A: 1\r\n\tb\r\n', 'folded line'],
    ['A: 1\r\n Content-Length: 40\r\n', 'folded line'],
    ['X\n: 1\r\n', 'bare line end'],
    ['X\r: 1\r\n', 'bare line end'],
    ['X\n', 'bare line end'],
    ['\nX: 1\r\n', 'bare line end'],
    ['\rX: 1\r\n', 'bare line end'],
    ['(X): 1\r\n', 'malformed field name'],
    ['X\x00: 1\r\n', 'malformed field name'],
    ['X\xe9: 1\r\n', 'malformed field name'],
  ])('in %j is a %s (cases 145, 153)', (lines, fault) => expect(judgeFields(lines)).toBe(fault));
});

describe('a field value', () => {
  it('may not hold a control octet but the tab, wherever it stands', () => {
    for (const [before, behind] of [
      ['', ''],
      ['a', ''],
      ['', 'b'],
      ['a', 'b'],
      ['a ', ' b'],
    ]) {
      const accepted = CONTROLS.filter((octet) => {
        return typeof judgeFields(`X: ${before}${octetOf(octet)}${behind}\r\nY: 1\r\n`) !== 'string';
      });
      expect(accepted).toEqual([0x09]);
    }
  });

  it('names a bare CR and a bare LF as line ends, the others as controls', () => {
    const faults = CONTROLS.filter((octet) => octet !== 0x09).map((octet) => [
      octet,
      judgeFields(`X: a${octetOf(octet)}b\r\n`),
    ]);
    const isLineEnd = (octet: number) => octet === 0x0a || octet === 0x0d;
    expect(faults).toEqual(
      CONTROLS.filter((octet) => octet !== 0x09).map((octet) => [
        octet,
        isLineEnd(octet) ? 'bare line end' : 'control octet in a field value',
      ]),
    );
  });

  it.each([
    ['X: 1\n'],
    ['X: 1\n\r\n'],
    ['X: 1\r\r\n'],
    ['X: 1\r'],
    ['X: 1\rY: 2\r\n'],
    ['X: 1\nY: 2\r\n'],
    ['X:\n'],
    ['X: 1\r\nY: 2\n'],
    ['X: 1\r\nY: 2\r\r\n'],
  ])('that ends like %j has a bare line end', (lines) => expect(judgeFields(lines)).toBe('bare line end'));

  it('keeps every octet that is not a control, obs-text included (case 30)', () => {
    const visible = OCTETS.filter((octet) => !CONTROLS.includes(octet)).map(octetOf);
    expect(judgeFields(`X: <${visible.join('')}>\r\n`)).toEqual([['X', `<${visible.join('')}>`]]);
    expect(judgeFields('X: caf\xe9\r\n')).toEqual([['X', 'caf\xe9']]);
    expect(judgeFields('X: \xa0\x85\r\n')).toEqual([['X', '\xa0\x85']]);
  });

  it.each([
    ['X:1', '1'],
    ['X: 1', '1'],
    ['X:\t1', '1'],
    ['X: \t 1 \t ', '1'],
    ['X: a \t b ', 'a \t b'],
    ['X:', ''],
    ['X: ', ''],
    ['X: \t \t', ''],
    ['X:::', '::'],
  ])('of %j is %j, without the blanks around it', (line, value) => {
    expect(judgeFields(`${line}\r\nY: 2\r\n`)).toEqual([
      ['X', value],
      ['Y', '2'],
    ]);
  });
});

describe('the number of fields', () => {
  it('may reach the limit and not one more', () => {
    expect(judgeFields('A: 1\r\n'.repeat(3), 3)).toHaveLength(3);
    expect(judgeFields('A: 1\r\n'.repeat(4), 3)).toBe('too many fields');
    expect(judgeFields('', 0)).toEqual([]);
    expect(judgeFields('A: 1\r\n', 0)).toBe('too many fields');
  });
});

describe('a field table', () => {
  const TEXT = 'GET\r\nHost: a\r\nx-A:\t1 \r\nSet-Cookie: b=1\r\nX-a: 2\r\nx_a: 3\r\nset-cookie:\r\n\r\nrest';
  const fields = new FieldTable(10);
  fields.parse(TEXT, 5, TEXT.indexOf('rest') - 2);

  it('has the names and values in their order and case', () => {
    expect(pairsOf(fields)).toEqual([
      ['Host', 'a'],
      ['x-A', '1'],
      ['Set-Cookie', 'b=1'],
      ['X-a', '2'],
      ['x_a', '3'],
      ['set-cookie', ''],
    ]);
  });

  it('joins all the values of a name, whatever its case', () => {
    expect(['host', 'x-a', 'x_a', 'set-cookie', 'x-b', 'x', ''].map((name) => fields.get(name))).toEqual([
      'a',
      '1, 2',
      '3',
      'b=1, ',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('gives back the lines as they came', () => {
    expect(fields.lines(0, fields.count)).toBe(TEXT.slice(5, TEXT.indexOf('\r\n\r\n') + 2));
    expect(fields.lines(1, 2)).toBe('x-A:\t1 \r\n');
    expect(fields.lines(4, 6)).toBe('x_a: 3\r\nset-cookie:\r\n');
    expect([fields.lines(2, 2), fields.lines(3, 2), fields.lines(6, 6)]).toEqual(['', '', '']);
  });

  it('says where a line begins and ends', () => {
    for (let field = 0; field < fields.count; field++) {
      const line = TEXT.slice(fields.nameStart(field), fields.lineEnd(field));
      expect(line).toBe(fields.lines(field, field + 1));
      expect(line.endsWith('\r\n')).toBe(true);
    }
  });

  it('finds the first field of a meaning', () => {
    const table = tableOf('A: 1\r\nConnection: x\r\nHOST: a\r\nconnection: y\r\n');
    expect(['connection', 'host', 'te'].map((key) => table.find(FIELD[key as 'te']))).toEqual([1, 2, -1]);
    expect([0, 1, 2, 3].map((field) => table.id(field))).toEqual([0, FIELD.connection, FIELD.host, FIELD.connection]);
  });

  it('tells whether a field has a name', () => {
    expect([fields.isNamed(1, 'x-a'), fields.isNamed(4, 'x-a'), fields.isNamed(4, 'x_a')]).toEqual([true, false, true]);
    expect([fields.isNamed(1, 'x-'), fields.isNamed(1, 'x-ab'), fields.isNamed(1, '')]).toEqual([false, false, false]);
  });

  it('forgets one message with the next', () => {
    const table = tableOf('A: 1\r\nHost: a\r\nB: 2\r\n');
    expect(table.parse('C: 3\r\n', 0, 6)).toBeNull();
    expect(pairsOf(table)).toEqual([['C', '3']]);
    expect([table.get('a'), table.find(FIELD.host), table.lines(0, 1)]).toEqual([undefined, -1, 'C: 3\r\n']);
  });

  it('is empty for no lines', () => {
    expect(pairsOf(tableOf(''))).toEqual([]);
  });
});

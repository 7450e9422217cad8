// Field lines of an answer as node:http2 takes them.
import { describe, expect, it } from 'vitest';
import { HttpDate } from '../../../../gateway/proxy/front/http-date.ts';
import { answerFields, appendFields, fieldsByName } from '../../../../gateway/proxy/http2/answer-fields.ts';

describe('field lines', () => {
  it('become names and values in their order, without blanks around them', () => {
    const list = [':status', '200'];
    appendFields(list, 'A:  b c\t\r\nEmpty:\r\na: x:y\r\n');
    expect(list).toEqual([':status', '200', 'A', 'b c', 'Empty', '', 'a', 'x:y']);
  });

  it('become values by name, several under one', () => {
    expect({ ...fieldsByName('Link: </a>\r\nX: 1\r\nlink: </b>\r\n') }).toEqual({ link: ['</a>', '</b>'], x: ['1'] });
  });

  it('end where there is no line any more', () => {
    const list: string[] = [];
    appendFields(list, 'a: b\r\nno line');
    expect(list).toEqual(['a', 'b']);
  });
});

describe('the head of an answer', () => {
  const host = { date: new HttpDate({ nowMs: () => 0, wallMs: () => 0, random: () => 0 }, { nowMs: 0 }), hstsLine: '' };
  it.each([
    [200, 'Content-Length: 2\r\n', [':status', '200', 'Content-Length', '2']],
    [204, 'Content-Length: 3\r\nA: b\r\n', [':status', '204', 'A', 'b']],
    [205, 'content-length: 2\r\n', [':status', '205']],
    [304, 'Content-Length: 2\r\n', [':status', '304', 'Content-Length', '2']],
    [700, '', [':status', '502']],
  ])('with status %i has no length where there is no content', (status, lines, expected) => {
    expect(answerFields({ status, lines, hasDate: true }, host)).toEqual(expected);
  });
});

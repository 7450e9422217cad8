import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableJson, printableLines } from '../../../gateway/core/printable.ts';

const ANY_TEXT = fc.string({ unit: 'binary' });
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe('printable text', () => {
  it.each([
    ['what it was', 'what it was'],
    ['größer 中 🙂', 'größer 中 🙂'],
    ['\u001b[31mred', '\\u{1b}[31mred'],
    ['one\r\ntwo\t\0', 'one\\u{d}\\u{a}two\\u{9}\\u{0}'],
    ['\u009b2J \u202egnp.exe', '\\u{9b}2J \\u{202e}gnp.exe'],
  ])('writes %j as %j', (text, written) => {
    expect(printable(text)).toBe(written);
  });

  it('has nothing that does not show, whatever it was', () => {
    fc.assert(fc.property(ANY_TEXT, (text) => !UNSAFE.test(printable(text))));
  });

  it('keeps the lines of a text of several', () => {
    expect(printableLines('one\ntwo\u0007\n')).toBe('one\ntwo\\u{7}\n');
  });

  it('leaves what JSON says as it was', () => {
    fc.assert(
      fc.property(ANY_TEXT, (text) => {
        const json = printableJson(JSON.stringify({ text }, null, 2));
        expect(JSON.parse(json)).toEqual({ text });
        expect(json.replaceAll('\n', '')).not.toMatch(UNSAFE);
      }),
    );
  });
});

// Strict-Transport-Security of the listener in place of the service's.
import { describe, expect, it } from 'vitest';
import { hstsLineOf, withHsts } from '../../../../gateway/proxy/front/hsts.ts';

const LINE = hstsLineOf('max-age=1');

describe('the field lines of an answer', () => {
  it.each([
    ['', LINE],
    ['A: 1\r\n', `A: 1\r\n${LINE}`],
    ['strict-transport-security: x\r\nA: 1\r\n', `A: 1\r\n${LINE}`],
    ['A: 1\r\nSTRICT-Transport-Security:x\r\nB: 2\r\nStrict-Transport-Security: y\r\n', `A: 1\r\nB: 2\r\n${LINE}`],
    ['X: strict-transport-security: x\r\n', `X: strict-transport-security: x\r\n${LINE}`],
    ['Strict-Transport-Security-X: x\r\n', `Strict-Transport-Security-X: x\r\n${LINE}`],
  ])('%j become %j', (lines, wanted) => {
    expect(withHsts(lines, LINE)).toBe(wanted);
  });

  it('stay as they are where the listener says nothing', () => {
    expect(hstsLineOf(null)).toBe('');
    expect(withHsts('Strict-Transport-Security: x\r\n', '')).toBe('Strict-Transport-Security: x\r\n');
  });
});

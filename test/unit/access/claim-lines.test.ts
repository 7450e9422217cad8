// Claims as fields: what is told, what is left out, and what makes the token one that is not taken.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClaimField, claimLines } from '../../../gateway/access/claim-lines.ts';
import { MOST_HYPHENS, ownFields } from '../../../gateway/access/own-fields.ts';

const SUB: readonly ClaimField[] = [['sub', 'x-user-id']];
const told = (value: unknown) => claimLines({ sub: value }, SUB);

describe('a claim', () => {
  it.each([
    ['anna', 'anna'],
    ['Doe, John', 'Doe, John'],
    [42, '42'],
    [1.5, '1.5'],
    [true, 'true'],
    [false, 'false'],
    [['a', 'b', 3], 'a,b,3'],
    ['Zoë', Buffer.from('Zoë').toString('latin1')],
    ['日本', Buffer.from('日本').toString('latin1')],
  ])('%j is told as %s', (value, text) => {
    expect(told(value)).toBe(`x-user-id: ${text}\r\n`);
  });

  it.each([[undefined], [null], [[]]])('%j is not told', (value) => {
    expect(told(value)).toBe('');
  });

  it.each([
    ['a\r\nx-admin: 1'],
    ['a\nb'],
    ['a\0'],
    ['\u007f'],
    ['\u0085'],
    ['\ud800'],
    [' admin'],
    ['admin '],
    ['\u00a0admin'],
    [{ name: 'a' }],
    [['a,b']],
    [['a', ['b']]],
    [['a', null]],
    [['']],
    [['a\nb']],
  ])('%j makes the token one that is not taken', (value) => {
    expect(told(value)).toBeUndefined();
  });

  it('that is not there is not told, also when its name is one of every object', () => {
    expect(claimLines({}, [['constructor', 'x-a'], ['toString', 'x-b'], ...SUB])).toBe('');
  });

  it('goes into its own field', () => {
    const fields: readonly ClaimField[] = [['roles', 'x-roles'], ...SUB, ['https://a.test/x', 'x-x']];
    const claims = { sub: 'anna', roles: ['a', 'b'], 'https://a.test/x': 1 };
    expect(claimLines(claims, fields)).toBe('x-roles: a,b\r\nx-user-id: anna\r\nx-x: 1\r\n');
  });

  it('never makes more than one line, whatever it holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()), (value) => {
        const lines = told(value);
        if (lines === undefined || lines === '') return;
        expect(lines).toMatch(/^x-user-id: [\x20-\x7e\x80-\xff]*\r\n$/);
      }),
    );
  });
});

describe('the fields that only Weir may send', () => {
  it('are known in every spelling that a service reads as the same name', () => {
    expect([...ownFields(['X-User-Id', 'role'])].sort()).toEqual(
      ['role', 'x-user-id', 'x-user_id', 'x_user-id', 'x_user_id'].sort(),
    );
  });

  it('have a bounded number of spellings', () => {
    expect(
      ownFields([
        Array(MOST_HYPHENS + 1)
          .fill('a')
          .join('-'),
      ]).size,
    ).toBe(2 ** MOST_HYPHENS);
  });
});

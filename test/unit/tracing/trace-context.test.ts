import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keptTracestate, parseTraceparent, traceparentLine } from '../../../gateway/tracing/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('a traceparent', () => {
  it.each([
    ['of version 00', `00-${TRACE}-${SPAN}-01`, 1],
    ['that is not sampled', `00-${TRACE}-${SPAN}-00`, 0],
    ['with a random id', `00-${TRACE}-${SPAN}-03`, 3],
    ['with flags that nobody knows', `00-${TRACE}-${SPAN}-fd`, 1],
    ['of a later version', `01-${TRACE}-${SPAN}-01`, 1],
    ['of a later version with more behind', `cc-${TRACE}-${SPAN}-01-what-the-future-will-be`, 1],
    ['of a later version with nothing behind the dash', `fe-${TRACE}-${SPAN}-01-`, 1],
  ])('%s is read', (_what, value, flags) => {
    expect(parseTraceparent(value)).toEqual({ traceId: TRACE, parentId: SPAN, flags });
  });

  it.each([
    ['of version ff', `ff-${TRACE}-${SPAN}-01`],
    ['of version 00 with more behind', `00-${TRACE}-${SPAN}-01-x`],
    ['of version 00 with a dash behind', `00-${TRACE}-${SPAN}-01-`],
    ['of a later version without a dash before what is behind', `01-${TRACE}-${SPAN}-01.x`],
    ['without a trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['without a span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['in capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['with a letter beyond f', `00-${TRACE.slice(1)}g-${SPAN}-01`],
    ['with a letter in its version', `0x-${TRACE}-${SPAN}-01`],
    ['with a letter in its flags', `00-${TRACE}-${SPAN}-0g`],
    ['with a trace that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['with a trace that is too long', `00-${TRACE}0-${SPAN}-01`],
    ['with a span that is too short', `00-${TRACE}-${SPAN.slice(1)}-01`],
    ['with flags that are too short', `00-${TRACE}-${SPAN}-1`],
    ['with other separators', `00_${TRACE}_${SPAN}_01`],
    ['with space around', ` 00-${TRACE}-${SPAN}-01`],
    ['of two fields', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['of two fields of a later version', `01-${TRACE}-${SPAN}-01, 01-${TRACE}-${SPAN}-01`],
    ['that is empty', ''],
  ])('%s is none', (_what, value) => {
    expect(parseTraceparent(value)).toBeUndefined();
  });

  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });

  it('is read as it was written, whatever the ids are', () => {
    const isSome = (id: string) => /[^0]/.test(id);
    fc.assert(
      fc.property(
        digits(32).filter(isSome),
        digits(16).filter(isSome),
        fc.nat({ max: 3 }),
        (traceId, parentId, flags) => {
          const line = traceparentLine(traceId, parentId, flags);
          expect(line).toMatch(/^traceparent: \S{55}\r\n$/);
          expect(parseTraceparent(line.slice('traceparent: '.length, -2))).toEqual({ traceId, parentId, flags });
        },
      ),
    );
  });

  it('of version 00 is none with any one character changed to what cannot stand there', () => {
    const good = `00-${TRACE}-${SPAN}-01`;
    fc.assert(
      fc.property(fc.nat({ max: good.length - 1 }), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(good[at] === '-' ? character !== '-' : !/[0-9a-f]/.test(character));
        expect(parseTraceparent(good.slice(0, at) + character + good.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  it('never throws, and gives only ids that are valid', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0f-a'), minLength: 50 })), (value) => {
        const parsed = parseTraceparent(value);
        if (parsed !== undefined) expect(parsed.traceId + parsed.parentId).toMatch(/^[0-9a-f]{48}$/);
      }),
    );
  });
});

describe('a tracestate', () => {
  const member = (key: string, length: number) => `${key}=${'v'.repeat(length - key.length - 1)}`;

  it.each([
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['a=1 , b=2\t,\tc=3', 'a=1,b=2,c=3'],
    ['a=1,,b=2,', 'a=1,b=2'],
    ['tenant@vendor=x y z', 'tenant@vendor=x y z'],
    ['1a_-*/@=!~', '1a_-*/@=!~'],
    ['', ''],
  ])('%j is passed on as %j', (value, kept) => {
    expect(keptTracestate(value)).toBe(kept);
  });

  it.each([
    ['a key in capitals', 'A=1'],
    ['no value', 'a='],
    ['no key', '=1'],
    ['no equals sign', 'a'],
    ['a second equals sign', 'a=1=2'],
    ['a key twice', 'a=1,b=2,a=3'],
    ['a character beyond ASCII', 'a=\xe9'],
    ['a key of 257 characters', `${'k'.repeat(257)}=1`],
    ['a value of 257 characters', `a=${'v'.repeat(257)}`],
    ['33 members', Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(',')],
  ])('with %s is not passed on', (_what, value) => {
    expect(keptTracestate(value)).toBe('');
  });

  it('of 32 members and of 512 characters is passed on whole', () => {
    const many = Array.from({ length: 32 }, (_, at) => `k${at}=1`).join(',');
    const long = [member('a', 128), member('b', 128), member('c', 128), member('d', 125)].join(',');
    expect([keptTracestate(many), keptTracestate(long), long.length]).toEqual([many, long, 512]);
  });

  it('that is too long loses its long members first, then those on the right', () => {
    const [a, b, c, d, long] = [
      member('a', 128),
      member('b', 128),
      member('c', 128),
      member('d', 128),
      member('x', 200),
    ];
    expect(keptTracestate([long, a, b, c].join(','))).toBe([a, b, c].join(','));
    expect(keptTracestate([a, b, c, d].join(','))).toBe([a, b, c].join(','));
  });

  it('is at most 512 characters and 32 members long, and reading it again changes nothing', () => {
    const key = fc.string({ unit: fc.constantFrom(...'abc1'), minLength: 1, maxLength: 4 });
    const value = fc.string({ unit: fc.constantFrom('v', '-', '!'), minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { maxLength: 40 }), (members) => {
        const kept = keptTracestate(members.map(([name, text]) => `${name}=${text}`).join(','));
        expect(kept.length).toBeLessThanOrEqual(512);
        expect(kept.split(',').length).toBeLessThanOrEqual(32);
        expect(keptTracestate(kept)).toBe(kept);
      }),
    );
  });
});

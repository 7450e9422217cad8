// Which content coding a client gets for its Accept-Encoding field.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseCoding } from '../../../../gateway/proxy/answers/accept-encoding.ts';
import { prepareCompression } from '../../../../gateway/proxy/answers/compression.ts';

const ALL = ['zstd', 'br', 'gzip'] as const;

describe('the coding for a client', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['deflate', null],
    ['identity', null],
    ['*', 'zstd'],
    ['*;q=0', null],
    ['zstd;q=0, *', 'br'],
    ['gzip;q=1.0, br;q=0.9, *;q=0.1', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['br;q=0.001', 'br'],
    ['gzip;q=0', null],
    ['gzip; Q=0.3 ,\tbr ; q=0.2', 'gzip'],
    ['identity;q=1, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=1', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['identity;q=0', null],
    ['identity;q=0, br', 'br'],
    ['gzip;q=0, gzip', null],
    ['gzip;q=2', null],
    ['gzip;q=x', null],
    ['gzip;q=', null],
    ['gzip;q=0.1234', null],
    [';q=1, ,,', null],
  ] as const)('that sends %j is %j', (accept, wanted) => {
    expect(chooseCoding(accept, ALL)).toBe(wanted);
  });

  it('at equal weight is the one that the route names first', () => {
    const accept = 'gzip, deflate, br, zstd';
    expect(chooseCoding(accept, ['gzip', 'br'])).toBe('gzip');
    expect(chooseCoding(accept, ['br', 'gzip'])).toBe('br');
  });

  it('is never one that the route does not name', () => {
    expect(chooseCoding('br, zstd', ['gzip'])).toBeNull();
    fc.assert(
      fc.property(fc.string({ maxLength: 600 }), (accept) => {
        expect([null, 'gzip']).toContain(chooseCoding(accept, ['gzip']));
      }),
    );
  });

  it('is none for a field that is too long to be worked out', () => {
    expect(chooseCoding(`gzip,${' '.repeat(512)}`, ALL)).toBeNull();
    expect(prepareCompression(ALL).choose(`gzip,${' '.repeat(512)}`)).toBeNull();
  });

  it('stays the same when it is asked for again, and after many others', () => {
    const compression = prepareCompression(ALL);
    for (let round = 0; round < 200; round++) {
      expect(compression.choose(`br, x-${round}`)).toBe('br');
      expect(compression.choose('gzip')).toBe('gzip');
      expect(compression.choose('none')).toBeNull();
    }
  });
});

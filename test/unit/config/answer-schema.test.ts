// The keys of a route about its answers: compression and security headers.
import { describe, expect, it } from 'vitest';
import { routeSchema } from '../../../gateway/config/route-schema.ts';
import { checkRoute, problemLines } from './checking.ts';

describe('compress', () => {
  it.each([
    [{}, null],
    [{ compress: 'off' }, null],
    [{ compress: ['gzip'] }, ['gzip']],
    [{ compress: ['gzip', 'zstd', 'br'] }, ['gzip', 'zstd', 'br']],
  ])('%j is read', (given, wanted) => {
    expect(routeSchema.parse({ service: 'a', ...given }).compress).toEqual(wanted);
  });

  it.each(['[]', '[deflate]', '[br, br]', 'on', 'gzip', 'true'])('%s is refused', (written) => {
    expect(problemLines(checkRoute(`service: a\ncompress: ${written}`))).toEqual([
      expect.stringMatching(/^r\.yaml:2:\d+ compress.*expected .*zstd, br,? (?:or )?gzip/),
    ]);
  });
});

describe('securityHeaders', () => {
  it.each([
    [{}, null],
    [{ securityHeaders: 'off' }, null],
    [{ securityHeaders: 'basic' }, 'basic'],
    [{ securityHeaders: 'strict' }, 'strict'],
  ])('%j is read', (given, wanted) => {
    expect(routeSchema.parse({ service: 'a', ...given }).securityHeaders).toEqual(wanted);
  });

  it('of another name is refused', () => {
    expect(problemLines(checkRoute('service: a\nsecurityHeaders: hard'))).toEqual([
      expect.stringMatching(/securityHeaders.*off, basic or strict/),
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lenientPath, normalisePath, withoutQuery } from '../../../gateway/routing/path.ts';

describe('the path that routes are matched by', () => {
  it.each([
    ['/orders', '/orders'],
    ['/orders?a=1&b=/../x', '/orders'],
    ['/%6Frders', '/orders'],
    ['/%7Euser', '/~user'],
    ['/a%2Fb', '/a%2Fb'],
    ['/a%20b/%C3%A9', '/a%20b/%C3%A9'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/b/..', '/a/'],
    ['/a/b/.', '/a/b/'],
    ['/../../etc', '/etc'],
    ['/%2e%2e/%2E/x', '/x'],
    ['/debug/./upstreams', '/debug/upstreams'],
    ['//double//slash', '//double//slash'],
    ['/.hidden', '/.hidden'],
    ['/a/...', '/a/...'],
    ['/', '/'],
    ['/?', '/'],
  ])('of %s is %s', (target, path) => {
    expect(normalisePath(target)).toBe(path);
  });

  it.each([['/%'], ['/%z1'], ['/%1'], ['/a%'], ['/%%41'], ['*'], ['orders'], ['?a=1'], ['http://x/']])(
    'does not exist for %s',
    (target) => {
      expect(normalisePath(target)).toBeUndefined();
    },
  );

  it('is stable: a path in this form stays as it is', () => {
    const piece = fc.constantFrom('a', '.', '..', '%41', '%2e', '%2F', '%25', '', '~', 'é');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const once = normalisePath(`/${pieces.join('/')}`);
        expect(normalisePath(once ?? '/')).toBe(once ?? '/');
      }),
    );
  });

  it('never keeps a dot segment', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '.', '..', '%2e', '.%2E', '%2e%2e'), { maxLength: 8 }), (pieces) => {
        const segments = (normalisePath(`/${pieces.join('/')}`) ?? '').split('/');
        expect(segments.filter((segment) => segment === '.' || segment === '..')).toEqual([]);
      }),
    );
  });

  it('has nothing of the query', () => {
    expect(withoutQuery('/a?b?c')).toBe('/a');
    expect(withoutQuery('/a')).toBe('/a');
  });
});

describe('a path as lenient services read it', () => {
  it.each([
    ['/a/b', '/a/b'],
    ['//admin/x', '/admin/x'],
    ['/x//../admin', '/admin'],
    ['/x/..%2fadmin', '/admin'],
    ['/x/..;/admin', '/admin'],
    ['/admin;a=1/x', '/admin/x'],
    ['/x\\..\\admin', '/admin'],
    ['/admin%2Fx', '/admin/x'],
    ['/admin%3ba', '/admin'],
    ['/a%20b', '/a%20b'],
  ])('%s is %s', (path, expected) => {
    expect(lenientPath(path)).toBe(expected);
  });
});

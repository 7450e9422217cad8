import { describe, expect, it } from 'vitest';
import { rewriteTarget } from '../../../gateway/routing/rewrite.ts';

describe('the rewritten target', () => {
  it.each([
    ['/a/b?c=1', '', '', '/a/b?c=1'],
    ['/a%2Fb/%zz', '', '', '/a%2Fb/%zz'],
    ['/api/orders?x', '/api', '', '/orders?x'],
    ['/api', '/api', '', '/'],
    ['/api?x=1', '/api', '', '/?x=1'],
    ['/api/', '/api/', '', '/'],
    ['/orders', '', '/v2', '/v2/orders'],
    ['/api/orders', '/api', '/v2', '/v2/orders'],
    ['/api', '/api', '/v2', '/v2'],
  ])('of %s without "%s" and behind "%s" is %s', (target, stripPrefix, addPrefix, expected) => {
    expect(rewriteTarget(target, { stripPrefix, addPrefix })).toBe(expected);
  });

  it('does not exist when the raw path does not start with the prefix, however it is encoded', () => {
    expect(rewriteTarget('/%61pi/orders', { stripPrefix: '/api', addPrefix: '' })).toBeUndefined();
    expect(rewriteTarget('/x/../api/orders', { stripPrefix: '/api', addPrefix: '' })).toBeUndefined();
  });

  it.each(['/../b', '/a/../../b', '/%2e%2E/b', '/..%2fb', '/..;x=1/b', '/.%2e', '/x/..\\..\\..\\b'])(
    'does not exist when %s would leave the prefix that is added',
    (target) => {
      expect(rewriteTarget(target, { stripPrefix: '', addPrefix: '/tenant' })).toBeUndefined();
      expect(rewriteTarget(target, { stripPrefix: '', addPrefix: '' })).toBe(target);
    },
  );

  it.each(['/a/../b', '/a/b/../../c', '/...', '/a..b', '/?x=/../..'])('stays within the prefix with %s', (target) => {
    expect(rewriteTarget(target, { stripPrefix: '', addPrefix: '/tenant' })).toBe(`/tenant${target}`);
  });
});

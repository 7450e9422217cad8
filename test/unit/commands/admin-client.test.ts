import { describe, expect, it } from 'vitest';
import { adminPlace } from '../../../gateway/commands/admin-client.ts';

function placeOf(option: string | undefined, environment: Record<string, string> = {}) {
  const place = adminPlace(option, environment);
  return typeof place === 'string' ? place : [place.url.origin, place.token];
}

describe('the admin address that is asked', () => {
  it('is that of the option, else of the environment, else the default', () => {
    const environment = { WEIR_ADMIN_URL: 'http://10.0.0.2:9901/', WEIR_ADMIN_TOKEN: 'secret' };
    expect(placeOf('https://[::1]:9902', environment)).toEqual(['https://[::1]:9902', 'secret']);
    expect(placeOf(undefined, environment)).toEqual(['http://10.0.0.2:9901', 'secret']);
    expect(placeOf(undefined, { WEIR_ADMIN_URL: '' })).toEqual(['http://127.0.0.1:9901', '']);
  });

  it.each(['127.0.0.1:9901', 'ftp://a', 'http://', 'http://a/debug', 'http://a/?x', 'nonsense'])(
    'is not %s',
    (option) => {
      expect(placeOf(option)).toBe(`--admin must be a URL like http://127.0.0.1:9901, not "${option}"`);
    },
  );

  it('has no user and password, which are not shown either', () => {
    expect(placeOf('http://me:secret@10.0.0.2:9901')).toBe(
      '--admin must be a URL like http://127.0.0.1:9901, not "http://***@10.0.0.2:9901"',
    );
    expect(placeOf(undefined, { WEIR_ADMIN_URL: 'x' })).toMatch(/^WEIR_ADMIN_URL must be a URL/);
  });

  it('has a token that a header can carry', () => {
    expect(placeOf(undefined, { WEIR_ADMIN_TOKEN: 'a\nb' })).toBe('WEIR_ADMIN_TOKEN must be visible ASCII characters');
  });
});

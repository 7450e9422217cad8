import { describe, expect, it } from 'vitest';
import { verifiedRequest } from '../../../../gateway/proxy/routes/verified-request.ts';

const ownFields = new Set(['x-user', 'x_user', 'x-role', 'authorization']);

function seen(fields: Readonly<Record<string, string>>, lines: string) {
  return verifiedRequest({ target: '/a', header: (name) => fields[name] }, { ownFields, lines });
}

describe('a request whose sender is known', () => {
  it('has the fields that were verified, in place of what the client says', () => {
    const request = seen(
      { 'x-user': 'root', 'x-role': 'root', x_user: 'root' },
      'x-user: anna\r\nx-role: x-user: a\r\n',
    );
    expect(request.header('x-user')).toBe('anna');
    expect(request.header('x-role')).toBe('x-user: a');
    expect(request.header('x_user')).toBeUndefined();
    expect(request.target).toBe('/a');
  });

  it('lacks those that nothing is known of', () => {
    expect(seen({ 'x-user': 'root' }, '').header('x-user')).toBeUndefined();
    expect(seen({ 'x-user': 'root' }, 'x-role: x-user\r\n').header('x-user')).toBeUndefined();
  });

  it('keeps its credentials and all other fields', () => {
    const request = seen({ authorization: 'Basic a', cookie: 'a=1' }, 'x-user: anna\r\n');
    expect([request.header('authorization'), request.header('cookie')]).toEqual(['Basic a', 'a=1']);
    expect(seen({ authorization: 'a' }, 'authorization: b\r\n').header('authorization')).toBe('b');
  });
});

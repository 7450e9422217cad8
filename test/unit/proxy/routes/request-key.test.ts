import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cookieOf, type KeyPart, requestKey } from '../../../../gateway/proxy/routes/request-key.ts';
import { describedRequest, type RequestParts } from '../../../support/described-request.ts';

const CLIENT = '192.0.2.7';

function keyOf(on: KeyPart['on'], name: string | null, parts: RequestParts = {}): string | undefined {
  return requestKey({ on, name }, describedRequest(parts), CLIENT);
}

describe('the key of a request', () => {
  it.each([
    ['a header', 'header', 'x-user', { fields: ['X-User: ann'] }, 'ann'],
    ['a repeated header: all its values', 'header', 'x-user', { fields: ['X-User: ann', 'x-user: bob'] }, 'ann, bob'],
    ['a header that is missing (case 123)', 'header', 'x-user', {}, undefined],
    ['a header that is empty (case 123)', 'header', 'x-user', { fields: ['X-User:'] }, undefined],
    ['a header of spaces (case 123)', 'header', 'x-user', { fields: ['X-User:   '] }, undefined],
    ['a cookie', 'cookie', 'sid', { fields: ['Cookie: a=1; sid=42; b=2'] }, '42'],
    ['a cookie that is empty', 'cookie', 'sid', { fields: ['Cookie: sid='] }, undefined],
    ['no cookie at all', 'cookie', 'sid', {}, undefined],
    ['the path', 'path', null, { target: '/a/%62?x=1' }, '/a/%62'],
    ['the query', 'query', null, { target: '/a?x=1&y=2' }, 'x=1&y=2'],
    ['no query', 'query', null, { target: '/a' }, undefined],
    ['an empty query', 'query', null, { target: '/a?' }, undefined],
    ['a parameter', 'query', 'y', { target: '/a?x=1&y=2%20&z' }, '2%20'],
    ['a parameter of which another begins alike', 'query', 'y', { target: '/a?yy=1&my=3&y=2' }, '2'],
    ['a parameter that is twice there: the first', 'query', 'y', { target: '/a?y=1&y=2' }, '1'],
    ['a parameter with = in its value', 'query', 'y', { target: '/?y=a=b' }, 'a=b'],
    ['a parameter without value', 'query', 'y', { target: '/a?y&x=1' }, undefined],
    ['a parameter with an empty value', 'query', 'y', { target: '/a?y=' }, undefined],
    ['a parameter of the path', 'query', 'y', { target: '/y=1/?x=2' }, undefined],
    ["the client's address", 'client_ip', null, { fields: ['X-Forwarded-For: 6.6.6.6'] }, CLIENT],
    ['the route itself', 'route', null, {}, 'route'],
  ] satisfies [string, KeyPart['on'], string | null, RequestParts, string | undefined][])(
    'is %s',
    (_what, on, name, parts, key) => {
      expect(keyOf(on, name, parts)).toBe(key);
    },
  );
});

describe('a cookie', () => {
  it.each([
    ['sid=1', '1'],
    ['a=0; sid=1', '1'],
    ['a=0;sid=1;b=2', '1'],
    ['a=0;   sid=1  ; b=2', '1'],
    ['sid="quoted value"; b=2', '"quoted value"'],
    ['sid=a=b==; c', 'a=b=='],
    ['sid=first; sid=second', 'first'],
    ['xsid=0; sidx=0; sid-x=0; sid=1', '1'],
    ['SID=0; sid=1', '1'],
    ['a="sid=0"; sid=1', '1'],
    ['sid=; b=1', ''],
    ['a=1; ; ;; sid=1', '1'],
    ['sid', undefined],
    ['sid ; a=1', undefined],
    ['=sid; a=sid', undefined],
    ['', undefined],
    [';;;', undefined],
  ])('sid of "%s" is %o', (field, value) => {
    expect(cookieOf(field, 'sid')).toBe(value);
  });

  it('is found among any others', () => {
    const text = fc.stringMatching(/^[a-z0-9]{0,6}$/);
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text), { maxLength: 6 }), name, (cookies, wanted) => {
        const field = cookies.map(([each, value]) => `${each}=${value}`).join('; ');
        expect(cookieOf(field, wanted)).toBe(cookies.find(([each]) => each === wanted)?.[1]);
      }),
    );
  });
});

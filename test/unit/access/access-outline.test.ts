// The checks of a route in words.
import { describe, expect, it } from 'vitest';
import { accessOutline } from '../../../gateway/access/access-outline.ts';
import { checkRoute, valid } from '../config/checking.ts';

const outline = (text: string) => accessOutline(valid(checkRoute(`service: a\n${text}`)));

describe('the outline', () => {
  it.each([
    ['', []],
    ['allow: [10.0.0.0/8]', ['address: only 10.0.0.0/8']],
    ['deny: [10.0.0.1, fd00::/8]', ['address: everybody, but not 10.0.0.1/32, fd00::/8']],
    ['allow: [10.0.0.0/8]\ndeny: [10.1.0.0/16]', ['address: only 10.0.0.0/8, but not 10.1.0.0/16']],
    ['auth: { basic: { users: ../users } }', ['basic: users of ../users, told in x-user']],
    ['auth: { jwt: { jwks: keys.json } }', ['jwt: keys from keys.json']],
    [
      'auth: { jwt: { jwks: "https://id.example/keys?key=secret", claims: { sub: X-User-Id } } }',
      ['jwt: keys from https://id.example/keys, sub told in x-user-id'],
    ],
    [
      'auth: { forward: { url: "http://a:1/auth?key=secret", responseHeaders: [x-a, x-b] } }',
      ['forward: http://a:1/auth within 2000ms, told in x-a, x-b'],
    ],
    [
      'deny: [::1]\ncors: { origins: [https://a.test], credentials: true }\nauth: { forward: { url: http://a:1 } }',
      [
        'address: everybody, but not ::1/128',
        'cors: pages of https://a.test, with credentials',
        'forward: http://a:1/ within 2000ms',
      ],
    ],
  ])('of %j', (text, lines) => {
    expect(outline(text)).toEqual(lines);
  });
});

// The sections of a route about who may come in: what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { PUBLIC_KEY_ALGORITHMS } from '../../../gateway/access/key-set.ts';
import { checkRoute, problemLines, valid } from './checking.ts';

const nothing = new Uint8Array();
const JWT = {
  kind: 'jwt',
  jwks: { kind: 'url', url: 'https://id.example/keys' },
  issuer: null,
  audience: null,
  algorithms: [...PUBLIC_KEY_ALGORITHMS],
  claims: {},
  realm: 'restricted',
};
const CORS = { origins: ['https://a.test'], methods: [], requestHeaders: [], exposeHeaders: [], credentials: false };

describe('accepted values', () => {
  it.each([
    ['{}', ['auth'], null],
    ['{}', ['cors'], null],
    ['allow: []', ['allow'], []],
    ['allow: [10.0.0.0/8, "::1"]', ['allow'], ['10.0.0.0/8', '::1/128']],
    ['deny: [192.0.2.7]', ['deny'], ['192.0.2.7/32']],
    [
      'auth: { basic: { users: /etc/weir/users } }',
      ['auth'],
      {
        kind: 'basic',
        users: { file: '/etc/weir/users', content: nothing },
        realm: 'restricted',
        userHeader: 'x-user',
        passCredentials: false,
      },
    ],
    ['auth: { basic: { users: u, userHeader: Remote-User } }', ['auth', 'userHeader'], 'remote-user'],
    ['auth: { jwt: { jwks: "https://id.example/keys" } }', ['auth'], JWT],
    [
      'auth: { jwt: { jwks: "https://id.example/keys", issuer: "", audience: "", claims: { sub: x-user-id } } }',
      ['auth'],
      { ...JWT, claims: { sub: 'x-user-id' } },
    ],
    [
      'auth: { jwt: { jwks: ../keys.json } }',
      ['auth', 'jwks'],
      { kind: 'file', file: '../keys.json', content: nothing },
    ],
    ['auth: { jwt: { jwks: k, algorithms: [HS256, RS256] } }', ['auth', 'algorithms'], ['HS256', 'RS256']],
    ['auth: { jwt: { jwks: k, issuer: me, audience: you } }', ['auth', 'audience'], 'you'],
    [
      'auth: { forward: { url: http://127.0.0.1:9000/auth, timeout: 2s, responseHeaders: [X-User-Id] } }',
      ['auth'],
      {
        kind: 'forward',
        url: 'http://127.0.0.1:9000/auth',
        timeoutMs: 2000,
        requestHeaders: ['authorization', 'cookie', 'accept', 'user-agent'],
        responseHeaders: ['x-user-id'],
      },
    ],
    ['cors: { origins: [], methods: [], headers: [], credentials: false, maxAge: 10m }', ['cors'], null],
    ['cors: { origins: [https://a.test] }', ['cors'], { ...CORS, maxAgeMs: 600_000 }],
    [
      'cors: { origins: ["HTTPS://A.Test:443", "http://*.b.test:80", "https://c.test:8443", "*"] }',
      ['cors', 'origins'],
      ['https://a.test', 'http://*.b.test', 'https://c.test:8443', '*'],
    ],
    ['cors: { origins: ["*"], methods: ["*"], headers: ["*"] }', ['cors', 'requestHeaders'], ['*']],
    ['cors: { origins: ["http://[::1]:3000"], maxAge: 0s }', ['cors', 'maxAgeMs'], 0],
  ])('%s', (text, path, value) => {
    const route = valid(checkRoute(text === '{}' ? 'service: a' : `service: a\n${text}`));
    expect(route).toHaveProperty(path, value);
  });
});

describe('refused values, each with its place and what was expected', () => {
  const network = 'expected a network like 10.0.0.0/8 or fd00::/8';
  const url = 'expected a URL like http://127.0.0.1:9000/auth, without user and #';
  const jwks = 'expected a URL like https://id.example/keys, or a file relative to the route file';
  const own = 'expected a header name with at most 5 hyphens or underscores, other than those that Weir sets itself';
  const crossing = 'expected a header name, other than those that Weir sets itself';
  const origin = 'expected an origin like https://shop.example.com or https://*.example.com, or *';

  it.each([
    ['allow: 10.0.0.0/8', '2:8 allow: wrong type (text), expected a list of networks like 10.0.0.0/8'],
    ['allow: [localhost]', `2:9 allow[0]: not valid, ${network}`],
    ['deny: [10.0.0.0/33]', `2:8 deny[0]: not valid, ${network}`],
    ['auth: off', '2:7 auth: wrong type (text), expected a mapping with basic, jwt, forward'],
    ['auth: {}', '2:7 auth: not one way to come in, expected one of basic, jwt and forward'],
    [
      'auth: { basic: { users: u }, jwt: { jwks: k } }',
      '2:7 auth: not one way to come in, expected one of basic, jwt and forward',
    ],
    ['auth: { basic: {} }', '2:9 auth.basic.users: missing, expected a file, relative to the route file'],
    ['auth: { basic: { users: u, userHeader: Host } }', `2:40 auth.basic.userHeader: not valid, ${own}`],
    ['auth: { basic: { users: u, userHeader: x-forwarded-user } }', `2:40 auth.basic.userHeader: not valid, ${own}`],
    ['auth: { basic: { users: u, userHeader: a-b-c-d-e-f-g } }', `2:40 auth.basic.userHeader: not valid, ${own}`],
    [
      'auth: { basic: { users: u, realm: "a\\nb" } }',
      '2:35 auth.basic.realm: not valid, expected printable ASCII characters',
    ],
    ['auth: { jwt: {} }', `2:9 auth.jwt.jwks: missing, ${jwks}`],
    ['auth: { jwt: { jwks: "ftp://a/b" } }', `2:22 auth.jwt.jwks: not valid, ${jwks}`],
    ['auth: { jwt: { jwks: "https://u:p@a/b" } }', `2:22 auth.jwt.jwks: not valid, ${jwks}`],
    ['auth: { jwt: { jwks: "" } }', `2:22 auth.jwt.jwks: not valid, ${jwks}`],
    ['auth: { jwt: { jwks: k, claims: { sub: via } } }', `2:40 auth.jwt.claims.sub: not valid, ${own}`],
    [
      'auth: { jwt: { jwks: k, claims: { sub: x-a, name: X-A } } }',
      '2:51 auth.jwt.claims.name: the same header as of another claim',
    ],
    [
      'auth: { jwt: { jwks: "https://a/b", algorithms: [HS256] } }',
      '2:49 auth.jwt.algorithms: a secret key that can be fetched, expected jwks to be a file',
    ],
    ['auth: { forward: { url: a } }', `2:25 auth.forward.url: not valid, ${url}`],
    ['auth: { forward: { url: "http://a/#b" } }', `2:25 auth.forward.url: not valid, ${url}`],
    ['auth: { forward: { url: "http://u@a/" } }', `2:25 auth.forward.url: not valid, ${url}`],
    [
      'auth: { forward: { url: http://a, timeout: 2m } }',
      '2:44 auth.forward.timeout: out of range, expected 1ms to 1m',
    ],
    [
      'auth: { forward: { url: http://a, requestHeaders: [x-forwarded-for] } }',
      `2:52 auth.forward.requestHeaders[0]: not valid, ${crossing}`,
    ],
    [
      'auth: { forward: { url: http://a, responseHeaders: [content-type] } }',
      `2:53 auth.forward.responseHeaders[0]: not valid, ${own}`,
    ],
    ['corss: {}', '2:1 corss: unknown key, did you mean "cors"?'],
    ['cors: { origins: [shop.example.com] }', `2:19 cors.origins[0]: not valid, ${origin}`],
    ['cors: { origins: [https://a.test/] }', `2:19 cors.origins[0]: not valid, ${origin}`],
    ['cors: { origins: ["https://a.*.test"] }', `2:19 cors.origins[0]: not valid, ${origin}`],
    ['cors: { origins: ["null"] }', `2:19 cors.origins[0]: not valid, ${origin}`],
    [
      'cors: { origins: ["*"], credentials: true }',
      '2:38 cors.credentials: any page could act for the user, expected origins without *',
    ],
    [
      'cors: { origins: [https://a.test], credentials: true, exposeHeaders: ["*"] }',
      '2:70 cors.exposeHeaders: * means nothing with credentials, expected names',
    ],
    ['cors: { methods: [PUT] }', '2:18 cors.methods: has no effect, expected origins to be set as well'],
    ['cors: { credentials: true }', '2:22 cors.credentials: has no effect, expected origins to be set as well'],
    [
      'cors: { origins: ["*"], methods: [put] }',
      '2:35 cors.methods[0]: not valid, expected a method in capitals like GET',
    ],
    ['cors: { origins: ["*"], maxAge: 25h }', '2:33 cors.maxAge: out of range, expected 0s to 24h'],
  ])('%s', (text, problem) => {
    expect(problemLines(checkRoute(`service: a\n${text}`))).toEqual([`r.yaml:${problem}`]);
  });
});

// What another service is asked, and what its answers mean.
import { describe, expect, it } from 'vitest';
import type { ForwardRules } from '../../../gateway/access/access-rules.ts';
import {
  type ForwardAnswer,
  forwardFields,
  forwardVerdict,
  type ToldFields,
} from '../../../gateway/access/forward-exchange.ts';
import { fieldsOf, requestFacts } from '../../support/request-facts.ts';

const RULES: ForwardRules = {
  kind: 'forward',
  url: 'http://127.0.0.1:9000/auth',
  timeoutMs: 2000,
  requestHeaders: ['authorization', 'cookie'],
  responseHeaders: ['x-user-id', 'x-roles'],
};

const TOLD: ToldFields = { responseHeaders: RULES.responseHeaders, userField: null };
const NAMED: ToldFields = { responseHeaders: ['x-user-id'], userField: 'x-user-id' };

const verdict = (answer: Partial<ForwardAnswer>, told = TOLD) =>
  forwardVerdict(told, { status: 200, headers: {}, content: null, ...answer }, 'request-1');

describe('the question', () => {
  it('has the wanted fields of the client, and what Weir says of the request', () => {
    const headers = { authorization: 'Bearer a', accept: '*/*', 'x-forwarded-for': '6.6.6.6', 'x-user-id': 'root' };
    expect(forwardFields(RULES, requestFacts({ method: 'POST', isTls: true, headers }))).toEqual({
      authorization: 'Bearer a',
      'x-forwarded-method': 'POST',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shop.example.com',
      'x-forwarded-uri': '/orders?page=2',
      'x-forwarded-for': '192.0.2.1',
      'x-request-id': 'request-1',
    });
  });
});

describe('an answer', () => {
  it.each([200, 202, 204])('of %d lets the request pass with the wanted fields', (status) => {
    const headers = { 'x-user-id': 'anna', 'x-roles': ['a', 'b'], 'x-other': '1', 'set-cookie': 'a=b' };
    const lines = 'x-user-id: anna\r\nx-roles: a, b\r\n';
    expect(verdict({ status, headers })).toEqual({ kind: 'pass', lines, user: null });
    expect(verdict({ status })).toEqual({ kind: 'pass', lines: '', user: null });
  });

  it.each([
    ['the user by name', 'anna', 'anna'],
    ['the user in UTF-8', Buffer.from('Zoë').toString('latin1'), 'Zoë'],
    ['an empty name', '', null],
    ['nobody', undefined, null],
  ])('names %s where one field is for that', (_what, value, user) => {
    const headers = { 'x-user-id': value, 'x-other': 'root' };
    expect(verdict({ headers }, NAMED)).toMatchObject({ kind: 'pass', user });
  });

  it.each([301, 302, 303, 307, 308, 400, 401, 403, 404, 429])('of %d goes to the client', (status) => {
    const answer = verdict({
      status,
      headers: {
        'www-authenticate': ['Basic realm="a"', 'Bearer'],
        'set-cookie': ['a=b', 'c=d'],
        location: '/login',
        'retry-after': '3',
        'content-type': 'text/plain',
        server: 'secret/1.0',
        connection: 'keep-alive',
        'transfer-encoding': 'chunked',
      },
      content: Buffer.from('no'),
    });
    if (answer.kind !== 'answer') throw new Error(answer.kind);
    expect(answer.status).toBe(status);
    expect(answer.content.toString()).toBe('no');
    expect(fieldsOf(answer.lines)).toEqual([
      ['WWW-Authenticate', 'Basic realm="a"'],
      ['WWW-Authenticate', 'Bearer'],
      ['Set-Cookie', 'a=b'],
      ['Set-Cookie', 'c=d'],
      ['Location', '/login'],
      ['Retry-After', '3'],
      ['Content-Type', 'text/plain'],
      ['Cache-Control', 'no-store'],
      ['Content-Length', '2'],
      ['X-Request-Id', 'request-1'],
    ]);
  });

  it('without content says nothing about its type, and may say how it is cached', () => {
    const answer = verdict({ status: 401, headers: { 'content-type': 'text/html', 'cache-control': 'private' } });
    expect(answer).toMatchObject({
      reason: 'Unauthorized',
      lines: 'Cache-Control: private\r\nContent-Length: 0\r\nX-Request-Id: request-1\r\n',
    });
  });

  it.each([101, 300, 304, 305, 306, 399, 500, 502, 503, 599, 600])('of %d lets nobody in', (status) => {
    expect(verdict({ status })).toEqual({ kind: 'refuse', situation: 'auth_unavailable', lines: '' });
  });

  it('with a field that is none lets nobody in, and tells the client nothing of it', () => {
    expect(verdict({ headers: { 'x-user-id': 'a\r\nx-admin: 1' } })).toMatchObject({ situation: 'auth_unavailable' });
    expect(verdict({ headers: { 'x-user-id': 'a\u0100' } })).toMatchObject({ situation: 'auth_unavailable' });
    const answer = verdict({ status: 302, headers: { location: '/\r\nset-cookie: a=b' } });
    expect(answer).toMatchObject({ kind: 'answer', lines: expect.not.stringContaining('set-cookie') });
  });
});

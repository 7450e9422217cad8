import { describe, expect, it } from 'vitest';
import { announcedRequest } from '../../../../gateway/proxy/routes/preflight.ts';

const ASKING = { origin: 'https://a.test', 'access-control-request-method': 'PUT', 'x-a': '1' };

function announced(method: string, fields: Readonly<Record<string, string>>) {
  return announcedRequest({ method, host: 'b.test', header: (name) => fields[name] });
}

describe('a preflight', () => {
  it('asks for a request with the same host and fields, and another method', () => {
    const request = announced('OPTIONS', ASKING);
    expect([request?.method, request?.host, request?.header('x-a')]).toEqual(['PUT', 'b.test', '1']);
  });

  it.each([
    ['GET', ASKING],
    ['OPTIONS', { origin: 'https://a.test' }],
    ['OPTIONS', { 'access-control-request-method': 'PUT' }],
    ['OPTIONS', {}],
  ])('is no %s with %j', (method, fields) => {
    expect(announced(method, fields)).toBeNull();
  });
});

// The names of a certificate, as Node writes them.
import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../gateway/tls/certificate-names.ts';

describe('the names of a certificate', () => {
  it.each([
    ['DNS:A.Example, DNS:*.a.example', 'CN=ignored', ['a.example', '*.a.example']],
    [
      'DNS:a.example, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1',
      '',
      ['a.example', '192.0.2.1', '2001:db8:0:0:0:0:0:1'],
    ],
    ['DNS:a.example, DNS:a.example', '', ['a.example']],
    ['email:me@a.example, URI:https://a.example/x', 'C=DE\nCN=cn.example', ['cn.example']],
    ['DNS:"evil.example\\u0000, DNS:a.example", DNS:b.example', '', ['b.example']],
    [undefined, 'C=DE\nO=Acme\nCN=Cn.Example', ['cn.example']],
    [undefined, 'O=CN=no', []],
    [undefined, '', []],
    ['URI:spiffe://a/b', undefined, []],
  ])('%j with the subject %j are %j', (subjectAltName, subject, names) => {
    expect(namesOf({ subjectAltName, subject })).toEqual(names);
  });
});

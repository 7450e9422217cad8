// A listener of gateway.yaml: what tls, http2, redirect, hsts and proxyProtocol accept, and what they refuse.
import { describe, expect, it } from 'vitest';
import { checkGateway, problemLines, valid } from './checking.ts';

const listen = (rest: string) => checkGateway(`listen: [{ address: "a:443", ${rest} }]`);
const TLS = 'tls: { certificates: /certs }';

describe('a listener', () => {
  it('has every default of tls', () => {
    const [listener] = valid(listen('tls: { certificates: [{ cert: a.pem, key: a.key }] }')).listen;
    expect(listener).toEqual({
      host: 'a',
      port: 443,
      tls: {
        certificates: [{ cert: 'a.pem', key: 'a.key', ocsp: '' }],
        minVersion: 'TLSv1.2',
        ciphers: [],
        clientCertificates: 'off',
        clientCa: '',
        tickets: true,
      },
      http2: true,
      proxyProtocol: [],
      redirect: null,
      hsts: null,
    });
  });

  it.each([
    [TLS, ['tls', 'certificates'], '/certs'],
    ['tls: { certificates: /c, minVersion: "1.3" }', ['tls', 'minVersion'], 'TLSv1.3'],
    [
      'tls: { certificates: /c, ciphers: [ecdhe-rsa-aes128-gcm-sha256] }',
      ['tls', 'ciphers'],
      ['ECDHE-RSA-AES128-GCM-SHA256'],
    ],
    ['tls: { certificates: /c, clientCertificates: require, clientCa: ca.pem }', ['tls', 'clientCa'], 'ca.pem'],
    ['redirect: https', ['redirect'], { port: 443 }],
    ['redirect: https', ['http2'], false],
    ['http2: true', ['http2'], true],
    [`${TLS}, http2: false`, ['http2'], false],
    ['proxyProtocol: [10.0.0.0/8, "fd00::7"]', ['proxyProtocol'], ['10.0.0.0/8', 'fd00::7/128']],
    [`${TLS}, proxyProtocol: [192.0.2.1]`, ['proxyProtocol'], ['192.0.2.1/32']],
    ['redirect: { to: https, port: 8443 }', ['redirect'], { port: 8443 }],
    [`${TLS}, hsts: off`, ['hsts'], null],
    [`${TLS}, hsts: 1.5s`, ['hsts'], 'max-age=1'],
    [`${TLS}, hsts: { maxAge: 0s }`, ['hsts'], 'max-age=0'],
    [
      `${TLS}, hsts: { maxAge: 8760h, includeSubDomains: true, preload: true }`,
      ['hsts'],
      'max-age=31536000; includeSubDomains; preload',
    ],
  ])('accepts %s', (rest, path, value) => {
    expect(valid(listen(rest)).listen[0]).toHaveProperty(path, value);
  });

  it.each([
    ['tls: {}', 'tls.certificates: missing, expected a folder, or a list of pairs, each with cert and key'],
    [
      'tls: { certificates: [] }',
      'tls.certificates: empty, expected a list of pairs, each with cert and key, not empty',
    ],
    ['tls: { certificates: [{ cert: a }] }', 'tls.certificates[0].key: missing, expected a file name'],
    [
      'tls: { certificates: /c, minVersion: 1.2 }',
      'tls.minVersion: wrong type (a number), expected "1.2" or "1.3", in quotes',
    ],
    [
      'tls: { certificates: /c, minVersion: "1.1" }',
      'tls.minVersion: unknown value, expected "1.2" or "1.3", in quotes, did you mean "1.2"?',
    ],
    [
      'tls: { certificates: /c, ciphers: [TLS_AES_128_GCM_SHA256] }',
      'tls.ciphers[0]: not valid, expected an OpenSSL name of a cipher of TLS 1.2, like ECDHE-RSA-AES128-GCM-SHA256',
    ],
    [
      'tls: { certificates: /c, clientCertificates: require }',
      'tls.clientCertificates: require without clientCa, expected clientCa to be set as well',
    ],
    [
      'tls: { certificates: /c, clientCa: ca.pem }',
      'tls.clientCa: nobody is asked for a certificate, expected clientCertificates to be request or require',
    ],
    [
      'tls: { certificates: /c, clientCertificates: on }',
      'tls.clientCertificates: unknown value, expected off, request or require',
    ],
    [
      'tls: { certificates: /c, minVersion: "1.3", ciphers: [ECDHE-RSA-AES128-GCM-SHA256] }',
      'tls.ciphers: ciphers of TLS 1.2 beside minVersion 1.3, expected none',
    ],
    ['tls: { certificate: /c, certificates: /c }', 'tls.certificate: unknown key, did you mean "certificates"?'],
    [`${TLS}, redirect: https`, 'redirect: a listener with tls, expected redirect where there is no tls'],
    ['redirect: htps', 'redirect: not valid, expected https, or a mapping with to, port, did you mean "https"?'],
    ['redirect: { to: https, port: 0 }', 'redirect.port: out of range, expected a whole number from 1 to 65535'],
    ['http2: h2c', 'http2: wrong type (text), expected true or false'],
    ['proxyProtocol: true', 'proxyProtocol: wrong type (true or false), expected a list of networks like 10.0.0.0/8'],
    ['proxyProtocol: [lb.example]', 'proxyProtocol[0]: not valid, expected a network like 10.0.0.0/8 or fd00::/8'],
    ['hsts: 1h', 'hsts: no tls, expected tls to be set as well: browsers ignore it otherwise'],
    [
      `${TLS}, hsts: 3600`,
      'hsts: not valid, expected off, a duration like 8760h, or a mapping with maxAge, includeSubDomains, preload',
    ],
    [
      `${TLS}, hsts: { maxAge: 1h, includeSubDomains: true, preload: true }`,
      'hsts.preload: not what the lists take, expected maxAge of at least 8760h, and includeSubDomains',
    ],
  ])('refuses %s', (rest, problem) => {
    const [line = '', ...others] = problemLines(listen(rest));
    expect(line.replace(/^g\.yaml:1:\d+ listen\[0\]\./, '')).toBe(problem);
    expect(others).toEqual([]);
  });
});

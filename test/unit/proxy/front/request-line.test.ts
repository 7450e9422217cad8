import { describe, expect, it } from 'vitest';
import { requestAddress } from '../../../../gateway/proxy/front/request-line.ts';

function address(target: string, host: string, isHttp10 = false) {
  return requestAddress(target, host, isHttp10);
}

describe('the Host of a request', () => {
  it.each([
    ['a'],
    ['a.example.com'],
    ['a:80'],
    ['a.example.com.'],
    ['127.0.0.1:65535'],
    ['[::1]'],
    ['[::1]:8080'],
    ['a_b:'],
    ['A-1'],
  ])('may be %s', (host) => {
    expect(address('/', host)).toEqual({ target: '/', host });
  });

  it.each([
    ['a b'],
    ['u@a'],
    ['a/x'],
    ['a,b'],
    [''],
    ['a:99999'],
    ['a:x'],
    ['::1'],
    ['[::1'],
    ['[127.0.0.1]'],
    ['a:80:90'],
    ['[fe80::1%eth0]'],
    ['a?b'],
    ['a#b'],
    ['ä'],
  ])('may not be "%s" (case 159)', (host) => {
    expect(address('/', host)).toBeUndefined();
  });

  it('may not be missing in HTTP/1.1', () => {
    expect(address('/', '')).toBeUndefined();
  });

  it('may be missing in HTTP/1.0', () => {
    expect(address('/', '', true)).toEqual({ target: '/', host: '' });
  });
});

describe('the target of a request', () => {
  it.each([
    ['http://b/x?y', { target: '/x?y', host: 'b' }],
    ['HTTP://b:81', { target: '/', host: 'b:81' }],
    ['https://b?y', { target: '/?y', host: 'b' }],
    ['http://[::1]:80/', { target: '/', host: '[::1]:80' }],
    ['//b/x', { target: '//b/x', host: 'a' }],
    ['*', { target: '*', host: 'a' }],
  ])('%s is %o', (target, expected) => {
    expect(address(target, 'a')).toEqual(expected);
  });

  it.each([
    ['http:b/x'],
    ['http://'],
    ['http:///x'],
    ['http://u@b/'],
    ['ftp://b/'],
    ['b/x'],
    ['?a=1'],
    ['@b/x'],
    ['.b/x'],
    ['*x'],
    [''],
  ])('may not be "%s" (cases 33 and 157)', (target) => {
    expect(address(target, 'a')).toBeUndefined();
  });
});

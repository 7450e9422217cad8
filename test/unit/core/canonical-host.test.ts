// Hosts from outside: one spelling for each, and none for what cannot be connected to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalHost } from '../../../gateway/core/canonical-host.ts';

describe('canonicalHost', () => {
  it.each([
    ['10.0.0.5', '10.0.0.5'],
    ['Web-1.Example.COM', 'web-1.example.com'],
    ['localhost', 'localhost'],
    ['under_score.internal', 'under_score.internal'],
    ['web.internal.', 'web.internal.'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['FD00:0:0::1', 'fd00::1'],
    ['::ffff:10.0.0.5', '10.0.0.5'],
    ['::FFFF:0a00:0005', '10.0.0.5'],
    ['3com.example', '3com.example'],
  ])('writes %j as %j', (text, host) => {
    expect(canonicalHost(text)).toBe(host);
  });

  it.each([
    '',
    'a b',
    '127.0.0.1/x',
    'user@h',
    'h:80',
    '[10.0.0.5]',
    '[::1',
    'fd00::1%eth0',
    '[fd00::1%eth0]',
    '0.0.0.0',
    '::',
    '0:0:0:0:0:0:0:0',
    '::ffff:0.0.0.0',
    '10.0.0',
    '300.1.1.1',
    '010.0.0.1',
    '0x7f000001',
    '12345',
    'a..b',
    '-a.example',
    'a\r\nb',
    'a\0b',
    `${'a'.repeat(64)}.example`,
    'é.example',
  ])('refuses %j', (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });

  it('is stable: a canonical host is its own canonical form', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain(), fc.string()), (text) => {
        const host = canonicalHost(text);
        if (host !== undefined) expect(canonicalHost(host)).toBe(host);
      }),
    );
  });
});

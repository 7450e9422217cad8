import { describe, expect, it } from 'vitest';
import { clientAddress, compileTrust, describePeer } from '../../../gateway/proxy/client-address.ts';

const isTrusted = compileTrust(['10.0.0.0/8', '192.168.1.7', 'fd00::/8', '::1']);

function client(remote: string, ...forwardedFor: string[]): string {
  return clientAddress(describePeer(remote, isTrusted), forwardedFor, isTrusted);
}

describe('the peer of a connection', () => {
  it.each([
    ['10.1.2.3', true],
    ['192.168.1.7', true],
    ['192.168.1.8', false],
    ['fd12::1', true],
    ['fe80::1', false],
    ['::1', true],
    ['127.0.0.1', false],
  ])('%s is trusted: %s', (address, trusted) => {
    expect(describePeer(address, isTrusted)).toEqual({ address, isTrusted: trusted });
  });

  it('with a mapped address is written as IPv4, and trusted as such', () => {
    expect(describePeer('::ffff:10.1.2.3', isTrusted)).toEqual({ address: '10.1.2.3', isTrusted: true });
  });

  it('is never trusted without trusted proxies', () => {
    expect(compileTrust([])('10.0.0.1')).toBe(false);
  });
});

describe('the client', () => {
  it('is an untrusted peer itself, whatever it claims (case 156)', () => {
    expect(client('8.8.8.8', '1.1.1.1')).toBe('8.8.8.8');
  });

  it.each([
    [['1.1.1.1'], '1.1.1.1'],
    [['6.6.6.6, 1.1.1.1'], '1.1.1.1'],
    [['6.6.6.6', '1.1.1.1'], '1.1.1.1'],
    [['1.1.1.1, 10.9.9.9, fd00::5'], '1.1.1.1'],
    [['10.9.9.9, 10.8.8.8'], '10.9.9.9'],
    [['"[2001:db8::1]:80"'], '2001:db8::1'],
    [['1.1.1.1:4711'], '1.1.1.1'],
    [['::ffff:1.1.1.1'], '1.1.1.1'],
    [['6.6.6.6, unknown'], '10.0.0.1'],
    [['6.6.6.6, unknown, 10.2.2.2'], '10.2.2.2'],
    [[''], '10.0.0.1'],
    [[], '10.0.0.1'],
    [[`6.6.6.6, ${'x'.repeat(10_000)}`], '10.0.0.1'],
  ])('behind a trusted proxy that says %j is %s', (forwardedFor, expected) => {
    expect(client('10.0.0.1', ...forwardedFor)).toBe(expected);
  });
});

// Which addresses a list of networks holds.
import { describe, expect, it } from 'vitest';
import { compileNetworks, unmapped } from '../../../gateway/core/networks.ts';

describe('networks', () => {
  it.each([
    [['10.0.0.0/8'], '10.1.2.3', true],
    [['10.0.0.0/8'], '11.1.2.3', false],
    [['10.9.9.9/8'], '10.1.2.3', true],
    [['10.0.0.0/8'], '::ffff:10.1.2.3', true],
    [['10.0.0.0/8'], '::FFFF:10.1.2.3', true],
    [['192.0.2.7'], '192.0.2.7', true],
    [['192.0.2.7'], '192.0.2.8', false],
    [['0.0.0.0/0'], '8.8.8.8', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::/0'], '2001:db8::1', true],
    [['::/0'], '8.8.8.8', false],
    [['::/0'], '::ffff:8.8.8.8', false],
    [['::ffff:10.0.0.0/104'], '10.1.2.3', true],
    [['::ffff:10.0.0.0/104'], '11.1.2.3', false],
    [['2001:db8::/32'], '2001:DB8:0::1', true],
    [['fe80::/10'], 'fe80::1%eth0', true],
    [['::1', '10.0.0.0/8'], '::1', true],
    [['10.0.0.0/8', '::/0'], 'unknown', false],
    [['0.0.0.0/0', '::/0'], '', false],
    [[], '10.1.2.3', false],
  ])('%j hold %s: %s', (cidrs, address, isHeld) => {
    expect(compileNetworks(cidrs)(address)).toBe(isHeld);
  });
});

describe('a mapped address', () => {
  it.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:zz', '::ffff:zz'],
    ['', ''],
  ])('%s is written %s', (address, written) => {
    expect(unmapped(address)).toBe(written);
  });
});

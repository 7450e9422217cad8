import { describe, expect, it } from 'vitest';
import { formatAddress, isLoopback, parseAddress } from '../../../gateway/core/address.ts';
import { parseDuration, parsePercent, parseSize } from '../../../gateway/core/units.ts';

describe('a duration', () => {
  it.each([
    ['250ms', 250],
    ['5s', 5000],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['24h', 86_400_000],
    ['0s', 0],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each([['5'], ['s'], ['5 s'], ['-5s'], ['5S'], ['5d'], ['1e3s'], [''], ['5s5']])('%s is none', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );
});

describe('a size', () => {
  it.each([
    ['512B', 512],
    ['16KiB', 16_384],
    ['1MiB', 1_048_576],
    ['2GiB', 2_147_483_648],
  ])('%s is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each([['16'], ['16KB'], ['16kib'], ['1M']])('%s is none', (text) => expect(parseSize(text)).toBeUndefined());
});

describe('a percentage', () => {
  it('goes from 0% to 100%', () => {
    expect(['0%', '20%', '100%', '101%', '20', '-1%'].map(parsePercent)).toEqual([
      0,
      20,
      100,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('an address', () => {
  it.each([
    ['127.0.0.1:80', { host: '127.0.0.1', port: 80 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['order_1.example.com:65535', { host: 'order_1.example.com', port: 65_535 }],
  ])('%s is read and written back', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(formatAddress(address.host, address.port)).toBe(text);
  });

  it.each([
    ['::1:80'],
    ['host'],
    ['host:'],
    ['host:0'],
    ['host:65536'],
    [':80'],
    ['a b:80'],
    ['a/x:80'],
    ['u@h:80'],
    ['[fe80::1%eth0]:80'],
    ['[127.0.0.1]:80'],
    ['host:080000'],
  ])('%s is none', (text) => expect(parseAddress(text)).toBeUndefined());

  it('is of the loopback for 127.0.0.0/8, ::1 and localhost only', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost'].every(isLoopback)).toBe(true);
    expect(['0.0.0.0', '::', '10.0.0.1', '127.example.com', 'localhost.example.com'].some(isLoopback)).toBe(false);
  });
});

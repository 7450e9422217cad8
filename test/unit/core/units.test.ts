import { describe, expect, it } from 'vitest';
import { formatAddress, isLoopback, parseAddress } from '../../../gateway/core/address.ts';
import { parseDuration, parsePercent, parseRate, parseSize } from '../../../gateway/core/units.ts';

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

describe('a rate', () => {
  it.each([
    ['100/s', 100, 1000],
    ['5/m', 5, 60_000],
    ['1000/h', 1000, 3_600_000],
    ['1/ms', 1, 1],
    ['10/30s', 10, 30_000],
    ['10/1.5s', 10, 1500],
    ['999999999/24h', 999_999_999, 86_400_000],
  ])('%s is %d in %d ms', (text, count, periodMs) => {
    expect(parseRate(text)).toEqual({ count, periodMs });
  });

  it.each([
    [''],
    ['100'],
    ['/s'],
    ['100/'],
    ['0/s'],
    ['010/s'],
    ['-1/s'],
    ['1.5/s'],
    ['1e3/s'],
    ['1000000000/s'],
    ['1/d'],
    ['1/S'],
    ['1/30'],
    ['1/.5s'],
    ['1/s.'],
    ['1/0s'],
    ['1/0.4ms'],
    ['1 /s'],
    ['1/ s'],
    ['1/s/s'],
    ['1/s\n'],
  ])('%j is none', (text) => expect(parseRate(text)).toBeUndefined());
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

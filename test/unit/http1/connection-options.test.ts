import { describe, expect, it } from 'vitest';
import { connectionOptions } from '../../../gateway/http1/connection-options.ts';
import { tableOf } from './parsing.ts';

function optionsOf(values: readonly string[], minor = 1) {
  const { isPersistent, isUpgrade, nominated } = connectionOptions(
    tableOf(['Host: a\r\n', ...values.map((value) => `cOnnection: ${value}\r\n`)].join('')),
    minor,
  );
  return [isPersistent, isUpgrade, nominated === null ? null : [...nominated]];
}

describe('a connection', () => {
  it.each([
    [[], true, false],
    [['keep-alive'], true, true],
    [['Keep-Alive'], true, true],
    [['close'], false, false],
    [['CLOSE'], false, false],
    [['\tclose '], false, false],
    [['keep-alive, close'], false, false],
    [['close, keep-alive'], false, false],
    [['keep-alive', 'close'], false, false],
    [['close', 'keep-alive'], false, false],
    [['keep-alive', 'keep-alive'], true, true],
    [[''], true, false],
    [[',,'], true, false],
    [['', 'close'], false, false],
  ])('with %j lives on in HTTP/1.1: %s, in HTTP/1.0: %s', (values, inHttp11, inHttp10) => {
    expect(optionsOf(values)).toEqual([inHttp11, false, null]);
    expect(optionsOf(values, 0)).toEqual([inHttp10, false, null]);
  });

  it.each(['closed', 'clos', 'close;a', 'keep_alive', '"close"', 'close keep-alive', 'close\xa0'])(
    'is not ended or kept by %j, which names a field',
    (value) => {
      expect(optionsOf([value])).toEqual([true, false, [value.toLowerCase()]]);
      expect(optionsOf([value], 0)).toEqual([false, false, [value.toLowerCase()]]);
    },
  );
});

describe('the fields that a connection keeps for itself', () => {
  it.each([
    [['X-Hop'], true, false, ['x-hop']],
    [['close, X-Hop'], false, false, ['x-hop']],
    [['keep-alive ,\tTE,x-A,,'], true, false, ['te', 'x-a']],
    [['X-A', 'Upgrade, X-B', 'x-a'], true, true, ['x-a', 'x-b']],
    [['keep-alive', 'X-A'], true, false, ['x-a']],
    [['close', 'X-A'], false, false, ['x-a']],
    [['upgrade'], true, true, null],
    [['Host, Content-Length'], true, false, ['host', 'content-length']],
  ])('are what %j names (cases 1, 3, 154)', (values, isPersistent, isUpgrade, nominated) => {
    expect(optionsOf(values)).toEqual([isPersistent, isUpgrade, nominated]);
  });
});

import { describe, expect, it } from 'vitest';
import { isStorableRequest, storable } from '../../../../gateway/proxy/answers/stale-rules.ts';
import { describedRequest, fieldTable } from '../../../support/described-request.ts';

const FOREVER = { vary: [], ageMs: 0, maxAgeMs: Number.POSITIVE_INFINITY };

function answer(...lines: string[]) {
  return storable(200, fieldTable(lines));
}

describe('the answer to a request', () => {
  it.each([
    ['GET', [], true],
    ['GET', ['Cookie: a=1'], true],
    ['GET', ['Cache-Control: no-cache, max-age=0'], true],
    ['HEAD', [], false],
    ['POST', [], false],
    ['OPTIONS', [], false],
    ['get', [], false],
    ['GET', ['Authorization: Basic eDp5'], false],
    ['GET', ['authorization:'], false],
    ['GET', ['Range: bytes=0-1'], false],
    ['GET', ['Cache-Control: no-store'], false],
    ['GET', ['Cache-Control: max-age=0', 'Cache-Control: No-Store'], false],
  ] satisfies [string, string[], boolean][])('%s with %j may be kept: %s', (method, fields, expected) => {
    expect(isStorableRequest(describedRequest({ method, fields }))).toBe(expected);
  });
});

describe('an answer', () => {
  it.each([200, 203])('with status %d may be kept', (status) => {
    expect(storable(status, fieldTable([]))).toEqual(FOREVER);
  });

  it.each([100, 201, 204, 206, 301, 304, 404, 410, 500, 503])('with status %d may not be kept', (status) => {
    expect(storable(status, fieldTable([]))).toBeNull();
  });

  it.each([
    'Set-Cookie: a=1',
    'set-cookie:',
    'Cache-Control: no-store',
    'Cache-Control: private',
    'Cache-Control: no-cache',
    'Cache-Control: must-revalidate',
    'Cache-Control: proxy-revalidate',
    'Cache-Control: PRIVATE',
    'Cache-Control: public, max-age=60,private',
    'Cache-Control: private="x-secret, x-other"',
    'Cache-Control: no-cache=set-cookie',
    'Cache-Control:, ,no-store,',
    'Vary: *',
    'Vary: Accept, *',
  ])('with "%s" may not be kept', (line) => {
    expect(answer(line)).toBeNull();
  });

  it('may not be kept for what any of several fields says', () => {
    expect(answer('Cache-Control: public', 'Cache-Control: private')).toBeNull();
    expect(answer('Vary: Accept', 'Vary: *')).toBeNull();
  });

  it.each([
    'Cache-Control: public, max-age=0',
    'Cache-Control: max-age=60, stale-if-error=10',
    'Cache-Control: immutable',
    'Cache-Control: x-private',
    'Cache-Control: community="private"',
    'Expires: Thu, 01 Jan 1970 00:00:00 GMT',
    'Pragma: no-cache',
  ])('with "%s" may be kept', (line) => {
    expect(answer(line)).toEqual(FOREVER);
  });

  it.each([
    ['s-maxage=60', 60_000],
    ['s-maxage="60"', 60_000],
    ['max-age=5, S-MaxAge=60', 60_000],
    ['s-maxage=0', 0],
    ['s-maxage', 0],
    ['s-maxage=', 0],
    ['s-maxage=-1', 0],
    ['s-maxage=soon', 0],
  ])('with "%s" may become %d ms old', (said, maxAgeMs) => {
    expect(answer(`Cache-Control: ${said}`)?.maxAgeMs).toBe(maxAgeMs);
  });

  it.each([
    ['Age: 0', 0],
    ['Age: 42', 42_000],
    ['Age: -1', 0],
    ['Age: old', 0],
    ['Age:', 0],
  ])('with "%s" is %d ms old when it comes', (line, ageMs) => {
    expect(answer(line)?.ageMs).toBe(ageMs);
  });

  it('depends on the fields that it names, in whatever case and order, each once', () => {
    expect(answer('Vary: Accept-Language,accept ,,Accept', 'vary: Cookie')?.vary).toEqual([
      'accept',
      'accept-language',
      'cookie',
    ]);
    expect(answer('Vary:')?.vary).toEqual([]);
  });
});

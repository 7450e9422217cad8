import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KeptAnswer, type KeptUnder, StaleCache } from '../../../../gateway/proxy/answers/stale-cache.ts';
import { describedRequest } from '../../../support/described-request.ts';

const NOON_MS = Date.UTC(2027, 0, 1, 12);
const HOUR_MS = 3_600_000;
const KIB = 1024;

function scene(maxBytes = 1024 * KIB) {
  const told: KeptUnder[] = [];
  const cache = new StaleCache({ maxBytes, maxEntryBytes: maxBytes, onKept: (kept) => void told.push(kept) });
  const find = (
    target: string,
    { ageMs = 0, fields = [] as string[], host = 'a.example', maxAgeMs = HOUR_MS } = {},
  ) => {
    const request = describedRequest({ target, host, fields });
    return cache.find(request, { wallMs: NOON_MS + ageMs, maxAgeMs })?.reason;
  };
  const keep = (target: string, reason: string, part: Partial<KeptAnswer> & { host?: string; bytes?: number } = {}) => {
    const { host = 'a.example', bytes = 10, ...rest } = part;
    cache.keep(describedRequest({ target, host }), answer(reason, bytes, rest));
  };
  return { cache, told, find, keep };
}

function answer(reason: string, bytes = 10, part: Partial<KeptAnswer> = {}): KeptAnswer {
  const content = new SharedArrayBuffer(bytes);
  const times = { bornMs: NOON_MS, maxAgeMs: Number.POSITIVE_INFINITY };
  return { status: 200, reason, lines: '', content, vary: [], ...times, ...part };
}

describe('kept answers', () => {
  it('are found by host and target, exactly', () => {
    const { find, keep } = scene();
    keep('/x?a=1', 'kept');
    expect(find('/x?a=1')).toBe('kept');
    expect(find('/x?a=1', { host: 'A.Example' })).toBe('kept');
    for (const target of ['/x', '/x?a=2', '/X?a=1', '/x?a=1&', '/%78?a=1']) expect(find(target)).toBeUndefined();
    for (const host of ['b.example', 'a.example:8080', 'a.example.']) {
      expect(find('/x?a=1', { host })).toBeUndefined();
    }
  });

  it('take the place of the one before', () => {
    const { find, keep } = scene();
    keep('/x', 'first');
    keep('/x', 'second', { bornMs: NOON_MS + 5000 });
    expect(find('/x', { ageMs: 5000 })).toBe('second');
  });

  it('are given until they are as old as the route or the service lets them be', () => {
    const { find, keep } = scene();
    keep('/x', 'kept');
    keep('/short', 'kept', { maxAgeMs: 60_000 });
    keep('/never', 'kept', { maxAgeMs: 0 });
    keep('/old', 'kept', { bornMs: NOON_MS - HOUR_MS + 1000 });
    const ages = [0, 1000, 1001, 60_000, 60_001, HOUR_MS, HOUR_MS + 1];
    const given = (target: string) => ages.filter((ageMs) => find(target, { ageMs }) !== undefined);
    expect(given('/x')).toEqual([0, 1000, 1001, 60_000, 60_001, HOUR_MS]);
    expect(given('/short')).toEqual([0, 1000, 1001, 60_000]);
    expect(given('/never')).toEqual([0]);
    expect(given('/old')).toEqual([0, 1000]);
  });

  it('are those of one route: another never gets them, nor keeps it from having its own', () => {
    const { cache } = scene();
    const request = describedRequest({ target: '/x', host: 'a.example' });
    cache.keep(request, answer('of shop'), 'shop');
    const found = (route: string) => cache.find(request, { wallMs: NOON_MS, maxAgeMs: HOUR_MS, route })?.reason;
    expect([found('shop'), found('beta')]).toEqual(['of shop', undefined]);
    expect([cache.wants(request, NOON_MS, 'shop'), cache.wants(request, NOON_MS, 'beta')]).toEqual([false, true]);
    cache.keep(request, answer('of beta'), 'beta');
    expect([found('shop'), found('beta')]).toEqual(['of shop', 'of beta']);
  });

  it('are told to the other workers, which keep them as well and tell nobody', () => {
    const [one, two] = [scene(), scene()];
    one.keep('/x', 'kept');
    expect(one.told).toHaveLength(1);
    for (const kept of one.told) two.cache.take(kept);
    expect([two.find('/x'), two.told]).toEqual(['kept', []]);
  });
});

describe('variants of an answer', () => {
  const accepting = (value: string | null) => ({ vary: [['accept', value]] as const });

  it('are given to requests that have the same fields', () => {
    const { find, keep } = scene();
    keep('/x', 'html', accepting('text/html'));
    keep('/x', 'json', accepting('application/json'));
    keep('/x', 'none', accepting(null));
    expect(find('/x', { fields: ['Accept: text/html'] })).toBe('html');
    expect(find('/x', { fields: ['Accept: application/json'] })).toBe('json');
    expect(find('/x')).toBe('none');
    expect(find('/x', { fields: ['Accept: text/plain'] })).toBeUndefined();
    expect(find('/x', { fields: ['Accept:'] })).toBeUndefined();
  });

  it('replace the one for the same fields, and no other', () => {
    const { find, keep } = scene();
    keep('/x', 'html', accepting('text/html'));
    keep('/x', 'json', accepting('application/json'));
    keep('/x', 'newer', accepting('text/html'));
    expect(find('/x', { fields: ['Accept: text/html'] })).toBe('newer');
    expect(find('/x', { fields: ['Accept: application/json'] })).toBe('json');
  });

  it('need all their fields to be right', () => {
    const { find, keep } = scene();
    keep('/x', 'kept', {
      vary: [
        ['accept', 'a'],
        ['cookie', null],
      ],
    });
    expect(find('/x', { fields: ['Accept: a'] })).toBe('kept');
    expect(find('/x', { fields: ['Accept: a', 'Cookie: b=1'] })).toBeUndefined();
  });

  it('are eight at most: the oldest goes', () => {
    const { find, keep } = scene();
    for (let at = 0; at < 10; at++) keep('/x', `v${at}`, accepting(String(at)));
    const given = Array.from({ length: 10 }, (_, at) => find('/x', { fields: [`Accept: ${at}`] }));
    expect(given).toEqual([undefined, undefined, 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9']);
  });
});

describe('an answer to be kept', () => {
  it('is wanted when it is new, and again a second after the last', () => {
    const { cache, keep } = scene();
    const request = describedRequest({ target: '/x', host: 'a.example' });
    const wantedAt = (ms: number) => cache.wants(request, NOON_MS + ms);
    expect(wantedAt(0)).toBe(true);
    keep('/x', 'kept');
    expect([0, 999, 1000, 5000].map(wantedAt)).toEqual([false, false, true, true]);
  });

  it('is wanted for each variant of its own', () => {
    const { cache, keep } = scene();
    keep('/x', 'html', { vary: [['accept', 'text/html']] });
    const wanted = (accept: string) => {
      return cache.wants(describedRequest({ target: '/x', host: 'a.example', fields: [`Accept: ${accept}`] }), NOON_MS);
    };
    expect([wanted('text/html'), wanted('text/plain')]).toEqual([false, true]);
  });

  it('is not wanted when five hundred were kept in this second', () => {
    const { cache, keep } = scene();
    const request = describedRequest({ target: '/new' });
    cache.wants(request, NOON_MS);
    for (let at = 0; at < 499; at++) keep(`/${at}`, 'kept');
    expect(cache.wants(request, NOON_MS + 999)).toBe(true);
    keep('/last', 'kept');
    expect([cache.wants(request, NOON_MS + 999), cache.wants(request, NOON_MS + 1000)]).toEqual([false, true]);
  });
});

describe('the memory for kept answers', () => {
  it('is bounded: those that were asked for longest ago go first', () => {
    const { find, keep } = scene(64 * KIB);
    for (let at = 0; at < 8; at++) {
      keep(`/${at}`, 'kept', { bytes: 10 * KIB });
      find('/0');
    }
    const left = Array.from({ length: 8 }, (_, at) => find(`/${at}`)).flatMap((found, at) => (found ? [at] : []));
    expect(left).toEqual([0, 3, 4, 5, 6, 7]);
  });

  it('counts lines and keys as well as content', () => {
    const { find, keep } = scene(64 * KIB);
    keep('/a', 'kept', { lines: 'x'.repeat(20 * KIB) });
    keep('/b', 'kept', { lines: 'x'.repeat(20 * KIB) });
    expect([find('/a'), find('/b')]).toEqual([undefined, 'kept']);
    const long = `/${'c'.repeat(20 * KIB)}`;
    keep(long, 'kept');
    expect([find('/b'), find(long)]).toEqual([undefined, 'kept']);
  });

  it('takes nothing that is larger than all of it', () => {
    const { find, keep } = scene(64 * KIB);
    keep('/small', 'kept');
    keep('/large', 'kept', { bytes: 65 * KIB });
    expect([find('/small'), find('/large')]).toEqual(['kept', undefined]);
  });

  it('never holds more than it may, whatever is kept', () => {
    const answers = fc.array(
      fc.record({ target: fc.integer({ min: 0, max: 20 }), bytes: fc.integer({ min: 0, max: 30 * KIB }) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(answers, (all) => {
        const { find, keep } = scene(64 * KIB);
        const sizes = new Map<number, number>();
        for (const { target, bytes } of all) {
          keep(`/${target}`, 'kept', { bytes });
          sizes.set(target, bytes);
          const held = [...sizes].filter(([each]) => find(`/${each}`) !== undefined);
          expect(held.reduce((sum, [, size]) => sum + size, 0)).toBeLessThanOrEqual(64 * KIB);
          expect(find(`/${target}`)).toBe('kept');
        }
      }),
      { numRuns: 40 },
    );
  });
});

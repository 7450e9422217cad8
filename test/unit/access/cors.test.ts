// What pages of other origins are told: answers, preflights, and origins that are not allowed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CorsRules } from '../../../gateway/access/access-rules.ts';
import { prepareCors } from '../../../gateway/access/cors.ts';
import { fieldsOf, requestFacts } from '../../support/request-facts.ts';

const SHOP = 'https://shop.example.com';
const rules = (changes: Partial<CorsRules> = {}): CorsRules => ({
  origins: [SHOP],
  methods: [],
  requestHeaders: [],
  exposeHeaders: [],
  credentials: false,
  maxAgeMs: 600_000,
  ...changes,
});

function allowed(origins: readonly string[], origin: string | undefined): string | undefined {
  const fields = new Map(fieldsOf(prepareCors(rules({ origins })).linesFor(origin)));
  expect(fields.get('Vary')).toBe('Origin');
  return fields.get('Access-Control-Allow-Origin');
}

describe('the lines of an answer', () => {
  it.each([
    [[SHOP], SHOP, SHOP],
    [['http://a.test', SHOP], SHOP, SHOP],
    [['*'], 'https://anything.test', '*'],
    [['*'], 'null', '*'],
    [['https://*.example.com'], SHOP, SHOP],
    [['https://*.example.com'], 'https://a.b.example.com', 'https://a.b.example.com'],
    [['https://*.example.com:8443'], 'https://a.example.com:8443', 'https://a.example.com:8443'],
  ])('origins %j allow %s as %s', (origins, origin, value) => {
    expect(allowed(origins, origin)).toBe(value);
  });

  it.each([
    [[SHOP], 'http://shop.example.com'],
    [[SHOP], `${SHOP}:444`],
    [[SHOP], `${SHOP}.evil.test`],
    [[SHOP], 'null'],
    [[SHOP], ''],
    [[SHOP], `${SHOP}, https://evil.test`],
    [['https://*.example.com'], 'https://example.com'],
    [['https://*.example.com'], 'https://.example.com'],
    [['https://*.example.com'], 'https://evilexample.com'],
    [['https://*.example.com'], 'https://evil.test/.example.com'],
    [['https://*.example.com'], 'https://evil.test?.example.com'],
    [['https://*.example.com'], 'https://evil.test#.example.com'],
    [['https://*.example.com'], 'https://user@x.example.com'],
    [['https://*.example.com'], 'https://a:1.example.com'],
    [['https://*.example.com'], 'http://a.example.com'],
    [['https://*.example.com'], 'https://a.example.com:8443'],
    [['https://*.example.com'], 'https://a.example.com.evil.test'],
  ])('origins %j do not allow %s', (origins, origin) => {
    expect(allowed(origins, origin)).toBeUndefined();
  });

  it('say only that they depend on the origin when there is none', () => {
    expect(prepareCors(rules({ origins: ['*'] })).linesFor(undefined)).toBe('Vary: Origin\r\n');
  });

  it('carry credentials and the fields that a page may read', () => {
    const cors = prepareCors(rules({ credentials: true, exposeHeaders: ['x-total', 'etag'] }));
    expect(fieldsOf(cors.linesFor(SHOP))).toEqual([
      ['Access-Control-Allow-Origin', SHOP],
      ['Access-Control-Allow-Credentials', 'true'],
      ['Access-Control-Expose-Headers', 'x-total, etag'],
      ['Vary', 'Origin'],
    ]);
  });

  it('never allow an origin whose host is not below that of the wildcard', () => {
    const cors = prepareCors(rules({ origins: ['https://*.example.com'] }));
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab.:/?#@ -\\%*é') }), fc.boolean(), (middle, isWhole) => {
        const origin = `https://${middle}${isWhole ? '.example.com' : 'example.com'}`;
        const lines = cors.linesFor(origin);
        if (lines === 'Vary: Origin\r\n') return;
        const url = new URL(origin);
        expect(url.origin).toBe(origin);
        expect(url.hostname.endsWith('.example.com')).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a preflight', () => {
  const asking = { origin: SHOP, 'access-control-request-method': 'PUT' };
  const preflight = (changes: Partial<CorsRules>, headers: Record<string, string> = asking) =>
    prepareCors(rules(changes)).preflightLines(requestFacts({ method: 'OPTIONS', headers }));

  it('is told the methods, the fields and for how long', () => {
    const lines = preflight({ methods: ['PUT', 'DELETE'], requestHeaders: ['content-type', 'x-a'] });
    expect(fieldsOf(lines ?? '')).toEqual([
      ['Access-Control-Allow-Methods', 'PUT, DELETE'],
      ['Access-Control-Allow-Headers', 'content-type, x-a'],
      ['Access-Control-Max-Age', '600'],
      ['Vary', 'Access-Control-Request-Method, Access-Control-Request-Headers'],
    ]);
  });

  it('is told no methods and fields but the simple ones where the route names none', () => {
    expect(fieldsOf(preflight({}) ?? '').map(([name]) => name)).toEqual(['Access-Control-Max-Age', 'Vary']);
  });

  it('is told what it asked for where any is allowed, also with credentials', () => {
    const any = { methods: ['*'], requestHeaders: ['*'], credentials: true };
    const lines = preflight(any, { ...asking, 'access-control-request-headers': 'x-a, authorization' });
    expect(fieldsOf(lines ?? '').slice(0, 2)).toEqual([
      ['Access-Control-Allow-Methods', 'PUT'],
      ['Access-Control-Allow-Headers', 'x-a, authorization'],
    ]);
    expect(preflight(any)).not.toContain('Allow-Headers');
  });

  it('of an origin that is not allowed is told nothing', () => {
    const lines = preflight({ methods: ['*'] }, { ...asking, origin: 'https://evil.test' });
    expect(fieldsOf(lines ?? '')).toEqual([['Vary', 'Access-Control-Request-Method, Access-Control-Request-Headers']]);
  });

  it.each([
    ['GET', asking],
    ['OPTIONS', { origin: SHOP }],
    ['OPTIONS', { 'access-control-request-method': 'PUT' }],
    ['OPTIONS', {}],
  ])('is not %s with %j', (method, headers) => {
    expect(prepareCors(rules()).preflightLines(requestFacts({ method, headers }))).toBeNull();
  });

  it('never says a word about private networks, and what the service says is dropped', () => {
    const cors = prepareCors(rules());
    const headers = { ...asking, 'access-control-request-private-network': 'true' };
    const lines = cors.preflightLines(requestFacts({ method: 'OPTIONS', headers }));
    expect(`${lines}${cors.linesFor(SHOP)}`).not.toMatch(/private-network/i);
    expect(cors.dropResponseFields.has('access-control-allow-private-network')).toBe(true);
    expect(cors.dropResponseFields.has('access-control-allow-origin')).toBe(true);
    expect(cors.dropResponseFields.has('vary')).toBe(false);
  });
});

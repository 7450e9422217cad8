// What the contract knows and this version cannot do is refused by name, not ignored.
import { describe, expect, it } from 'vitest';
import { checkRoute, problemLines } from './checking.ts';

const ROUTE = [
  ['endpoints: [https://a:1]', 'endpoints[0]'],
  ['endpoints: [{ address: "https://a:1" }]', 'endpoints[0].address'],
  ['fallback: { chain: [{ upstream: [https://a] }] }', 'fallback.chain[0].upstream[0]'],
] as const;

describe('not supported yet', () => {
  it.each(ROUTE)('in a route: %s', (text, key) => {
    const lines = problemLines(checkRoute(`service: a\n${text}`));
    expect(lines).toEqual([expect.stringMatching(/^r\.yaml:2:\d+ .*: not supported yet$/)]);
    expect(lines[0]).toContain(` ${key}: `);
  });

  it('is placed at a key that is not supported, and at a value that is not', () => {
    expect(problemLines(checkRoute('service: a\nendpoints: [https://a:1]'))).toEqual([
      'r.yaml:2:13 endpoints[0]: not supported yet',
    ]);
  });
});

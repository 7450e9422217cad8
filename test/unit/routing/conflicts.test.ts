import { describe, expect, it } from 'vitest';
import { findConflicts } from '../../../gateway/routing/conflicts.ts';
import type { MatchRule } from '../../../gateway/routing/route-table.ts';

function rule(part: Partial<MatchRule>): MatchRule {
  return { hosts: null, paths: ['/*'], methods: null, headers: {}, ...part };
}

function conflicts(a: Partial<MatchRule>, b: Partial<MatchRule>): string[] {
  return findConflicts([
    { name: 'a', match: [rule(a)] },
    { name: 'b', match: [rule(b)] },
  ]).map(({ route, rule: position, message }) => `${route}[${position}] ${message}`);
}

describe('two routes', () => {
  it.each([
    ['the same path', {}, {}],
    ['one of several paths', { paths: ['/a', '/b'] }, { paths: ['/b', '/c'] }],
    ['hosts that differ in case only', { hosts: ['Shop.example.com'] }, { hosts: ['shop.example.com.'] }],
    ['overlapping methods', { methods: ['GET', 'PUT'] }, { methods: ['PUT'] }],
    ['different header names', { headers: { 'x-a': '1' } }, { headers: { 'x-b': '1' } }],
    ['a present and an equal header', { headers: { 'x-a': '*' } }, { headers: { 'x-a': '1' } }],
    ['one method and one header', { methods: ['GET'] }, { headers: { 'x-a': '1' } }],
  ])('tie on %s', (_what, a, b) => {
    expect(conflicts(a, b)).toHaveLength(1);
  });

  it.each([
    ['different hosts', { hosts: ['a'] }, { hosts: ['b'] }],
    ['a host and any host', { hosts: ['a'] }, {}],
    ['a wildcard and a longer one', { hosts: ['*.a'] }, { hosts: ['*.b.a'] }],
    ['an exact path and a prefix', { paths: ['/a'] }, { paths: ['/a*'] }],
    ['a longer prefix', { paths: ['/a/*'] }, { paths: ['/a/b/*'] }],
    ['different methods', { methods: ['GET'] }, { methods: ['POST'] }],
    ['more conditions', { methods: ['GET'] }, {}],
    ['different values of a header', { headers: { 'x-a': '1' } }, { headers: { 'x-a': '2' } }],
  ])('do not tie with %s', (_what, a, b) => {
    expect(conflicts(a, b)).toEqual([]);
  });

  it('are named with the rule and the place', () => {
    expect(conflicts({ paths: ['/a'] }, { paths: ['/a'] })).toEqual([
      'b[0] ties with match[0] of route "a" on any host /a',
    ]);
  });

  it('may be one route that repeats itself', () => {
    expect(findConflicts([{ name: 'a', match: [rule({}), rule({})] }])).toEqual([]);
  });
});

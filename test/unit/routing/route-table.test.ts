import { describe, expect, it } from 'vitest';
import { type MatchRule, type RouteQuery, RouteTable } from '../../../gateway/routing/route-table.ts';

function rule(part: Partial<MatchRule>): MatchRule {
  return { hosts: null, paths: ['/*'], methods: null, headers: {}, ...part };
}

function query(part: Partial<RouteQuery> & { headers?: Record<string, string> }): RouteQuery {
  return { method: 'GET', host: 'shop.example.com', header: (name) => part.headers?.[name], ...part };
}

function find(routes: Record<string, MatchRule[]>, wanted: Parameters<typeof query>[0] & { path?: string }) {
  const table = new RouteTable(Object.entries(routes).map(([route, match]) => ({ route, match })));
  return table.find(query(wanted), wanted.path ?? '/');
}

describe('the route table', () => {
  const byHost = {
    exact: [rule({ hosts: ['shop.example.com'] })],
    wild: [rule({ hosts: ['*.example.com'] })],
    deeper: [rule({ hosts: ['*.eu.example.com'] })],
    any: [rule({})],
  };

  it.each([
    ['shop.example.com', 'exact'],
    ['SHOP.Example.COM', 'exact'],
    ['shop.example.com.', 'exact'],
    ['shop.example.com:80', 'exact'],
    ['other.example.com', 'wild'],
    ['a.b.example.com', 'wild'],
    ['a.eu.example.com', 'deeper'],
    ['eu.example.com', 'wild'],
    ['example.com', 'any'],
    ['evilexample.com', 'any'],
    ['[::1]:8080', 'any'],
    ['', 'any'],
  ])('takes %s to %s', (host, route) => {
    expect(find(byHost, { host })).toBe(route);
  });

  const byPath = {
    exact: [rule({ paths: ['/orders'] })],
    long: [rule({ paths: ['/orders/archive/*'] })],
    short: [rule({ paths: ['/orders/*'] })],
    stem: [rule({ paths: ['/ord*'] })],
  };

  it.each([
    ['/orders', 'exact'],
    ['/orders/', 'short'],
    ['/orders/1', 'short'],
    ['/orders/archive', 'short'],
    ['/orders/archive/2020', 'long'],
    ['/ordeal', 'stem'],
    ['/other', undefined],
    ['/', undefined],
  ])('takes the path %s to %s', (path, route) => {
    expect(find(byPath, { path })).toBe(route);
  });

  it('prefers more conditions, and an exact host over a better path', () => {
    const routes = {
      plain: [rule({ paths: ['/a'] })],
      posts: [rule({ paths: ['/a'], methods: ['POST'] })],
      beta: [rule({ paths: ['/a'], methods: ['POST'], headers: { 'x-beta': '1' } })],
      tagged: [rule({ paths: ['/a'], headers: { 'x-a': '*', 'x-b': '*', 'x-c': '2' } })],
      hosted: [rule({ hosts: ['h'], paths: ['/*'] })],
    };
    expect(find(routes, { path: '/a' })).toBe('plain');
    expect(find(routes, { path: '/a', method: 'POST' })).toBe('posts');
    expect(find(routes, { path: '/a', method: 'POST', headers: { 'x-beta': '1' } })).toBe('beta');
    expect(find(routes, { path: '/a', method: 'POST', headers: { 'x-beta': '2' } })).toBe('posts');
    expect(find(routes, { path: '/a', headers: { 'x-a': '', 'x-b': 'b', 'x-c': '2' } })).toBe('tagged');
    expect(find(routes, { path: '/a', host: 'h' })).toBe('hosted');
  });

  it('goes on to a less exact rule when the conditions of a better one fail', () => {
    const routes = {
      exact: [rule({ hosts: ['shop.example.com'], paths: ['/a'], methods: ['PUT'] })],
      prefix: [rule({ hosts: ['*.example.com'], paths: ['/*'] })],
    };
    expect(find(routes, { path: '/a' })).toBe('prefix');
  });

  it('matches nothing for a route without rules', () => {
    expect(find({ none: [] }, { path: '/' })).toBeUndefined();
  });
});

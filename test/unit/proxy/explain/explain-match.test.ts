import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchRoutes } from '../../../../gateway/proxy/explain/explain-match.ts';
import { normalisePath } from '../../../../gateway/routing/path.ts';
import { RouteTable } from '../../../../gateway/routing/route-table.ts';
import { routeOf } from './explain-scene.ts';

interface Asked {
  readonly method?: string;
  readonly host?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function match(rules: Readonly<Record<string, object>>, { method = 'GET', host = 'shop.test', ...asked }: Asked) {
  const routes = Object.entries(rules).map(([name, rule]) => routeOf(name, { match: [rule].flat() }));
  const header = (name: string): string | undefined => asked.headers?.[name];
  return matchRoutes(routes, { method, host, header }, asked.path ?? '/');
}

function rivals(rules: Readonly<Record<string, object>>, asked: Asked): string[] {
  return match(rules, asked).rivals.map(({ route, why }) => `${route} ${why}`);
}

describe('the route of a request', () => {
  it('is told with the rule, host and path that matched', () => {
    const rule = [{ paths: ['/x'] }, { hosts: ['a.test', '*.shop.test'], paths: ['/a', '/orders/*'] }];
    expect(match({ orders: rule }, { host: 'eu.shop.test', path: '/orders/1' }).won).toMatchObject({
      rule: 1,
      host: '*.shop.test',
      path: '/orders/*',
    });
  });

  const HOSTS = ['shop.test', '*.shop.test', '*.test', 'other.test'];
  const PATHS = ['/', '/*', '/a', '/a/*', '/a/b', '/a/b/*', '/ab*'];
  const rule = fc.record(
    {
      hosts: fc.subarray(HOSTS, { minLength: 1 }),
      paths: fc.subarray(PATHS, { minLength: 1 }),
      methods: fc.subarray(['GET', 'POST', 'PUT'], { minLength: 1 }),
      headers: fc.dictionary(fc.constantFrom('x-a', 'x-b'), fc.constantFrom('1', '*')),
    },
    { requiredKeys: [] },
  );
  const asked = fc.record({
    method: fc.constantFrom('GET', 'POST', 'DELETE'),
    host: fc.constantFrom('shop.test', 'SHOP.test:80', 'eu.shop.test', 'other.test', 'none'),
    target: fc.constantFrom('/', '/a', '/a/', '/a/b', '/a/%62/c', '/abc', '/a/../ab', '/z'),
    fields: fc.dictionary(fc.constantFrom('x-a', 'x-b'), fc.constantFrom('1', '2')),
  });

  it('is the one that the route table finds, whatever the rules and the request', () => {
    fc.assert(
      fc.property(fc.array(fc.array(rule, { maxLength: 3 }), { maxLength: 5 }), asked, (files, request) => {
        const routes = files.map((rules, at) => routeOf(`r${at}`, { match: rules }));
        const query = { ...request, header: (name: string) => request.fields[name] };
        const path = normalisePath(request.target) ?? '';
        const table = new RouteTable(routes.map((route) => ({ route, match: route.match })));
        const { won, rivals } = matchRoutes(routes, query, path);
        expect(won?.route).toBe(table.find(query, path));
        // Those that are said to match too would get the request if the others were not there.
        for (const rival of rivals) {
          const alone = routes.filter(({ name }) => name === rival.route);
          const lone = new RouteTable(alone.map((route) => ({ route, match: route.match })));
          expect(lone.find(query, path) !== undefined).toBe(rival.matches);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('a route that does not get the request', () => {
  const orders = { hosts: ['shop.test'], paths: ['/orders/*'], methods: ['GET'] };

  it.each([
    ['any host', {}, 'matches too, but the host shop.test is more exact than any host'],
    ['a wildcard', { hosts: ['*.test'] }, 'matches too, but the host shop.test is more exact than the host *.test'],
    ['a prefix', { hosts: ['shop.test'], paths: ['/o*'] }, 'matches too, but its prefix /o* is shorter than /orders/*'],
    [
      'fewer conditions',
      { ...orders, methods: undefined },
      'matches too, but has 0 conditions on method and headers where orders has 1',
    ],
  ])('ranks behind with %s', (_what, other, why) => {
    const rules = { orders, other: JSON.parse(JSON.stringify(other)) };
    expect(rivals(rules, { path: '/orders/1' })).toEqual([`other ${why}`]);
  });

  it('ranks behind an exact path with a prefix', () => {
    expect(rivals({ exact: { paths: ['/a'] }, prefix: { paths: ['/a*'] } }, { path: '/a' })).toEqual([
      'prefix matches too, but /a is exact and /a* a prefix',
    ]);
  });

  it.each([
    [{ path: '/orders/1', method: 'PUT' }, 'wants another method: GET'],
    [{ path: '/orders/1', method: 'get' }, 'wants another method: GET (methods are compared with their case)'],
    [{ path: '/orders' }, 'wants another path: what begins with /orders/ (/orders/* does not include /orders itself)'],
    [{ path: '/Orders/1' }, 'wants another path: what begins with /orders/ (paths are compared with their case)'],
    [{ path: '/elsewhere' }, 'wants another path: what begins with /orders/'],
    [{ path: '/orders/1', host: 'other.test' }, 'wants another host: shop.test'],
  ])('lacks one thing for %j', (asked, why) => {
    expect(rivals({ orders }, asked)).toEqual([`orders ${why}`]);
  });

  it.each([
    ['/a', '/a/', 'wants another path: /a exactly (a final / makes another path)'],
    ['/a/', '/a', 'wants another path: /a/ exactly (a final / makes another path)'],
    ['/a', '/A', 'wants another path: /a exactly (paths are compared with their case)'],
  ])('with the path %s is told apart from %s', (pattern, path, why) => {
    expect(rivals({ a: { paths: [pattern] } }, { path })).toEqual([`a ${why}`]);
  });

  it('with a wildcard does not include the name itself', () => {
    expect(rivals({ a: { hosts: ['*.shop.test'] } }, {})).toEqual([
      'a wants another host: *.shop.test (which does not include shop.test itself)',
    ]);
  });

  it('names every header that is missing or different', () => {
    const rules = { a: { headers: { 'x-a': '1', 'x-b': '*', 'x-c': '*', 'x-d': '4' } } };
    expect(rivals(rules, { headers: { 'x-a': '2', 'x-c': '' } })).toEqual([
      'a wants x-a to be "1", not "2", and wants the header x-b, and wants the header x-d: 4',
    ]);
  });

  it('is not told of when more than one thing is amiss', () => {
    expect(rivals({ orders }, { path: '/orders/1', host: 'x', method: 'PUT' })).toEqual([]);
    expect(rivals({ any: { paths: ['/far'] } }, { path: '/near' })).toEqual([]);
  });

  it('is told of in the order of closeness, five at most', () => {
    const rules = {
      host: { hosts: ['x'] },
      path: { hosts: ['shop.test'], paths: ['/b'] },
      header: { headers: { 'x-a': '*' } },
      method: { methods: ['PUT'] },
      matches: { paths: ['/*'] },
      won: { paths: ['/a'] },
      more: { hosts: ['y'] },
    };
    const found = match(rules, { path: '/a' });
    expect(found.rivals.map(({ route }) => route)).toEqual(['matches', 'method', 'header', 'path', 'host']);
    expect([found.won?.route.name, found.moreRivals]).toEqual(['won', 1]);
  });
});

import { describe, expect, it } from 'vitest';
import { RouteLimits } from '../../../../gateway/proxy/routes/route-limits.ts';
import { allocateLimitTable, LimitTable } from '../../../../gateway/shared/limit-table.ts';
import { describedRequest } from '../../../support/described-request.ts';
import { checkRoute, valid } from '../../config/checking.ts';

/** The limits of a route, in two workers. */
function limits(list: string, name = 'shop') {
  const table = allocateLimitTable({ entries: 1000 });
  const { rateLimit } = valid(checkRoute(`service: s\nrateLimit: [${list}]`));
  const [one, two] = [table, table].map((each) => new RouteLimits({ name, rateLimit }, new LimitTable(each)));
  if (one === undefined || two === undefined) throw new Error('no worker');
  const take = (client: string, fields: string[] = [], { nowMs = 1000, worker = one } = {}) => {
    return worker.take(describedRequest({ fields }), client, nowMs);
  };
  return { one, two, take, table };
}

function admitted(outcomes: readonly { delayMs: number }[]): boolean[] {
  return outcomes.map(({ delayMs }) => delayMs >= 0);
}

describe('the rate limits of a route', () => {
  it('count each client address on its own, in all workers together', () => {
    const { one, two, take } = limits('{ rate: 2/m }');
    const outcomes = [one, two, one, two].map((worker) => take('192.0.2.1', [], { worker }));
    expect(admitted(outcomes)).toEqual([true, true, false, false]);
    expect(admitted([take('192.0.2.2')])).toEqual([true]);
  });

  it('count IPv6 addresses by their network, for a client has all of it', () => {
    const { take } = limits('{ rate: 1/m }');
    const outcomes = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::', '2001:db8:0:1::1'].map((ip) => take(ip));
    expect(admitted(outcomes)).toEqual([true, false, false, true]);
  });

  it('count by header or cookie, and all requests without one together', () => {
    const byHeader = limits('{ rate: 1/m, key: header, name: X-Key }');
    const fields = [['X-Key: a'], ['x-key: a'], ['X-Key: b'], [], ['X-Key:'], ['Other: a']];
    expect(admitted(fields.map((each) => byHeader.take('192.0.2.1', each)))).toEqual([
      true,
      false,
      true,
      true,
      false,
      false,
    ]);
    const byCookie = limits('{ rate: 1/m, key: cookie, name: sid }');
    const cookies = ['Cookie: sid=a', 'Cookie: x=1; sid=a', 'Cookie: sid=b'];
    expect(admitted(cookies.map((each) => byCookie.take('192.0.2.1', [each])))).toEqual([true, false, true]);
  });

  it('count the route as a whole', () => {
    const { take } = limits('{ rate: 2/m, key: route }');
    expect(admitted(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip) => take(ip)))).toEqual([true, true, false]);
  });

  it('count under all of them or under none', () => {
    const { take } = limits('{ rate: 1/m }, { rate: 3/m, key: route }');
    const clients = ['a', 'a', 'a', 'a', 'b', 'c', 'd'].map((last, at) => `192.0.2.${last.charCodeAt(0)}/${at}`);
    const outcomes = clients.map((client) => take(client.split('/')[0] ?? ''));
    expect(admitted(outcomes)).toEqual([true, false, false, false, true, true, false]);
  });

  it('are those of one route: another has its own, with the same key', () => {
    const { table, take } = limits('{ rate: 1/m }');
    const { rateLimit } = valid(checkRoute('service: s\nrateLimit: [{ rate: 1/m }]'));
    const other = new RouteLimits({ name: 'other', rateLimit }, new LimitTable(table));
    const outcomes = [take('192.0.2.1'), other.take(describedRequest(), '192.0.2.1', 1000), take('192.0.2.1')];
    expect(admitted(outcomes)).toEqual([true, true, false]);
  });

  it('say what is left, and a refused request when to come again', () => {
    const { take } = limits('{ rate: 2/m }');
    expect(take('192.0.2.1')).toEqual({
      delayMs: 0,
      lines: 'RateLimit-Policy: "client_ip";q=2;w=60\r\nRateLimit: "client_ip";r=1;t=30\r\n',
    });
    take('192.0.2.1');
    const refused = take('192.0.2.1', [], { nowMs: 11_000 });
    expect(refused.delayMs).toBeCloseTo(-20_000, 0);
    expect(refused.lines).toBe(
      'RateLimit-Policy: "client_ip";q=2;w=60\r\nRateLimit: "client_ip";r=0;t=20\r\nRetry-After: 20\r\n',
    );
  });

  it('have names that tell several apart', () => {
    const { take } = limits('{ rate: 9/s }, { rate: 9/m, key: header, name: X-Key }, { rate: 9/h, key: route }');
    expect(take('192.0.2.1').lines).toMatch(
      /^RateLimit-Policy: "1:client_ip";q=9;w=1, "2:header:x-key";q=9;w=60, "3:route";q=9;w=3600\r\nRateLimit: "1:cl/,
    );
  });

  it('let a leaky bucket delay, up to its queue', () => {
    const { take } = limits('{ algorithm: leaky_bucket, rate: 1/s, burst: 2, key: route }');
    const delays = [1, 2, 3, 4].map(() => Math.round(take('192.0.2.1').delayMs));
    expect(delays).toEqual([0, 1000, 2000, -1000]);
  });

  it('let a token bucket burst as far as it is told, or by default as much as its rate', () => {
    const burst = limits('{ rate: 1/s, burst: 3, key: route }');
    expect(admitted([1, 2, 3, 4].map(() => burst.take('a')))).toEqual([true, true, true, false]);
    const plain = limits('{ rate: 2/s, key: route }');
    expect(admitted([1, 2, 3].map(() => plain.take('a')))).toEqual([true, true, false]);
  });
});

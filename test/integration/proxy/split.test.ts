// The split of a route: who gets which branch, and what happens to a branch that has nobody.
import { describe, expect, it } from 'vitest';
import { endpoint } from '../../support/endpoints.ts';
import { findFreePorts } from '../../support/free-ports.ts';
import {
  ask,
  fieldOf,
  namedUpstream,
  namedUpstreams,
  namesOf,
  sayingName,
  tally,
} from '../../support/named-upstream.ts';
import { get } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';

endAfterEach();

const STABLE = { tags: ['stable'] };
const CANARY = { tags: ['canary'] };
const NO_EJECTION = { consecutiveFailures: 1_000_000, failurePercent: 'off' };

function branches({ records }: TestGateway): (string | null)[] {
  return records.map(({ branch }) => branch);
}

/** Two stable instances and a canary, behind branches with these extras. */
async function scene(stable: object, canary: object, more: object = {}): Promise<TestGateway> {
  const [a, b, c] = await namedUpstreams('a', 'b', 'c');
  return gatewayFor({
    endpoints: [endpoint(a?.port ?? 0, STABLE), endpoint(b?.port ?? 0, STABLE), endpoint(c?.port ?? 0, CANARY)],
    route: {
      split: [
        { ...stable, ...STABLE },
        { ...canary, ...CANARY },
      ],
      ...more,
    },
  });
}

describe('a split', () => {
  it('by weight is exact, and the access record says which branch it was', async () => {
    const gateway = await scene({ weight: 3 }, { weight: 1 });
    const names = await namesOf(gateway.port, 80);
    expect(tally(names)).toEqual({ a: 30, b: 30, c: 20 });
    expect(branches(gateway)).toEqual(names.map((name) => (name === 'c' ? 'canary' : 'stable')));
  });

  it('is as exact for the requests that rate limits let through', async () => {
    const rateLimit = [{ key: 'header', name: 'x-key', rate: '1/h', burst: 1 }];
    const gateway = await scene({ weight: 1 }, { weight: 1 }, { rateLimit });
    // Every second request is refused: the one that has a key which has been there.
    const names = await namesOf(gateway.port, 40, (at) => `X-Key: ${at - (at % 2)}\r\n`);
    const served = names.filter((name) => name.length === 1);
    expect(tally(served)).toEqual({ a: 5, b: 5, c: 10 });
  });

  it.each([
    ['a header', { header: 'X-Canary', equals: '1' }, 'X-Canary: 1\r\n', 'X-Canary: 0\r\n'],
    ['any value of a header', { header: 'X-Canary' }, 'x-canary: what\r\n', ''],
    [
      'a cookie',
      { cookie: 'canary', equals: 'yes' },
      'Cookie: a=b; canary=yes\r\n',
      'Cookie: canary=no; b=canary=yes\r\n',
    ],
  ])('by %s sends there who has it, whatever the weights', async (_what, when, yes, no) => {
    const gateway = await scene({ weight: 1 }, { weight: 0, when });
    expect(tally(await namesOf(gateway.port, 10, () => yes))).toEqual({ c: 10 });
    expect(tally(await namesOf(gateway.port, 10, () => no))).toEqual({ a: 5, b: 5 });
    expect(tally(branches(gateway).map(String))).toEqual({ canary: 10, stable: 10 });
  });

  it('takes the first rule that holds, and needs all labels of a branch and of the subset', async () => {
    const [a, b, c] = await namedUpstreams('a', 'b', 'c');
    const gateway = await gatewayFor({
      endpoints: [
        endpoint(a?.port ?? 0, { tags: ['v1'], meta: { zone: 'x' } }),
        endpoint(b?.port ?? 0, { tags: ['v2'], meta: { zone: 'x' } }),
        endpoint(c?.port ?? 0, { tags: ['v2'], meta: { zone: 'y' } }),
      ],
      route: {
        subset: { meta: { zone: 'x' } },
        split: [
          { weight: 1, tags: ['v1'] },
          { weight: 0, tags: ['v2'], when: { header: 'x-one' } },
          { weight: 0, tags: ['v1'], when: { header: 'x-two' } },
        ],
      },
    });
    expect(tally(await namesOf(gateway.port, 6, () => 'X-One: 1\r\nX-Two: 1\r\n'))).toEqual({ b: 6 });
    expect(tally(await namesOf(gateway.port, 6, () => 'X-Two: 1\r\n'))).toEqual({ a: 6 });
  });
});

describe('a branch that has nobody', () => {
  const toCanary = () => 'X-Canary: 1\r\n';
  const RULE = { weight: 0, when: { header: 'x-canary' } };
  const split = [
    { weight: 1, ...STABLE },
    { ...RULE, ...CANARY },
  ];

  it('is stood in for by the other one, and the access record says so', async () => {
    const [a] = await namedUpstreams('a');
    const gateway = await gatewayFor({ endpoints: [endpoint(a?.port ?? 0, STABLE)], route: { split } });
    expect(tally(await namesOf(gateway.port, 4, toCanary))).toEqual({ a: 4 });
    expect(tally(branches(gateway).map(String))).toEqual({ 'stable instead of canary': 4 });
    gateway.update([]);
    const answer = await ask(gateway.port, get('/', toCanary()));
    expect(fieldOf(answer, 'proxy-status')).toBe('weir; error=destination_unavailable');
    expect(gateway.records.at(-1)).toMatchObject({ branch: 'canary', error: 'empty_pool' });
  });

  it.each([
    ['with a fallback', { fallback: { chain: [{ respond: { body: 'soon' } }] } }],
    ['without one', {}],
  ])('because all of it are ejected is stood in for as well, %s', async (_what, more) => {
    const bad = await upstreamThat(sayingName('bad', '500 Oops'));
    const good = await namedUpstream('good');
    const gateway = await gatewayFor({
      endpoints: [endpoint(good.port, STABLE), endpoint(bad.port, CANARY)],
      route: { split, ejection: { consecutiveFailures: 2, base: '60s' }, ...more },
    });
    expect(tally(await namesOf(gateway.port, 10, toCanary))).toEqual({ bad: 2, good: 8 });
    expect(tally(branches(gateway).map(String))).toEqual({ canary: 2, 'stable instead of canary': 8 });
  });

  it('left that this request has not tried is stood in for as well', async () => {
    const [dead = 0] = await findFreePorts(1);
    const good = await namedUpstream('good');
    const gateway = await gatewayFor({
      endpoints: [endpoint(good.port, STABLE), endpoint(dead, CANARY)],
      route: { split, ejection: NO_EJECTION },
    });
    expect(tally(await namesOf(gateway.port, 4, toCanary))).toEqual({ good: 4 });
    expect(gateway.records[0]).toMatchObject({
      branch: 'stable instead of canary',
      attempts: [{ outcome: 'connection_refused' }, { outcome: 'success' }],
    });
  });

  it('is tried all the same when the whole pool is ejected and there is no fallback', async () => {
    const [one, two] = await Promise.all(['one', 'two'].map((name) => upstreamThat(sayingName(name, '500 Oops'))));
    const gateway = await gatewayFor({
      endpoints: [endpoint(one?.port ?? 0, STABLE), endpoint(two?.port ?? 0, CANARY)],
      route: { split, ejection: { consecutiveFailures: 1, base: '60s', maxPercent: 100 } },
    });
    await namesOf(gateway.port, 1, toCanary);
    await namesOf(gateway.port, 1);
    expect(gateway.endpoints().map(({ state }) => state)).toEqual(['ejected', 'ejected']);
    expect(await namesOf(gateway.port, 3, toCanary)).toEqual(['two', 'two', 'two']);
  });
});

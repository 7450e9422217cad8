import { describe, expect, it } from 'vitest';
import type { RouteConfig } from '../../../../gateway/config/route-schema.ts';
import type { Endpoint } from '../../../../gateway/core/instance.ts';
import { Lease } from '../../../../gateway/pool/lease.ts';
import { RouteChoice } from '../../../../gateway/proxy/routes/route-choice.ts';
import { allocateRouteCell, RouteCell } from '../../../../gateway/shared/route-cell.ts';
import { describedRequest, type RequestParts } from '../../../support/described-request.ts';
import { ejectionPolicy } from '../../../support/ejection-policy.ts';
import { endpoint } from '../../../support/endpoints.ts';
import { badFor, PoolScene } from '../../../support/pool-scene.ts';
import { checkRoute, valid } from '../../config/checking.ts';

const CLIENT = '192.0.2.7';

function routeOf(text: string): RouteConfig {
  return { ...valid(checkRoute(`service: s\n${text}`)), name: 'r', file: 'r.yaml', source: 'consul' };
}

/** A route as several workers see it. */
function scene(text: string, endpoints: readonly Endpoint[], workers = 3) {
  const pool = new PoolScene(endpoints, workers, { keepsLabels: true, ejection: ejectionPolicy({ maxPercent: 100 }) });
  const cell = allocateRouteCell(workers);
  const choices = pool.workers.map((each, lane) => new RouteChoice(routeOf(text), each, new RouteCell(cell, lane)));
  const choiceOf = (worker: number): RouteChoice => {
    const choice = choices[worker % workers];
    if (choice === undefined) throw new Error('no worker');
    return choice;
  };
  /** One request; gives the port that it went to or why it went nowhere, and how logs call its branch. */
  const request = (parts: RequestParts = {}, { worker = 0, failOpen = false } = {}) => {
    const choice = choiceOf(worker);
    const described = describedRequest(parts);
    const branch = choice.branchFor(described);
    const options = { tried: [], hash: choice.hashOf(described, CLIENT), failOpen };
    const acquired = choice.acquire(branch, options);
    const group = acquired instanceof Lease ? acquired.group : undefined;
    if (acquired instanceof Lease) acquired.release('client_gone');
    return {
      to: acquired instanceof Lease ? acquired.endpoint.port : acquired,
      label: choice.labelOf(group, branch),
    };
  };
  /** Where so many requests go, from worker after worker. */
  const served = (count: number, parts: RequestParts = {}) => {
    const seen: Record<string, number> = {};
    for (let worker = 0; worker < count; worker++) {
      const { to } = request(parts, { worker });
      seen[to] = (seen[to] ?? 0) + 1;
    }
    return seen;
  };
  return { pool, request, served, choiceOf };
}

const STABLE = endpoint(1, { tags: ['stable'] });
const STABLE_TOO = endpoint(2, { tags: ['stable'] });
const CANARY = endpoint(3, { tags: ['canary'] });
const BY_WEIGHT = 'split: [{ weight: 95, tags: [stable] }, { weight: 5, tags: [canary] }]';
const BY_RULE = `split:
  - { weight: 1, tags: [stable] }
  - { weight: 0, tags: [canary], when: { header: X-Canary, equals: "1" } }
  - { weight: 0, meta: { zone: b }, when: { cookie: beta } }`;

describe('a route without a split', () => {
  it('chooses from the whole pool, or from its subset', () => {
    const endpoints = [STABLE, STABLE_TOO, CANARY];
    expect(scene('', endpoints).served(300)).toEqual({ 1: 100, 2: 100, 3: 100 });
    expect(scene('subset: { tags: [stable] }', endpoints).served(300)).toEqual({ 1: 150, 2: 150 });
    expect(scene('subset: { tags: [gone] }', endpoints).served(3)).toEqual({ empty: 3 });
  });

  it('has no label for logs', () => {
    expect(scene('', [STABLE]).request()).toEqual({ to: 1, label: null });
  });

  it('shares exactly with other routes of the service that go round robin', () => {
    const { pool, served, choiceOf } = scene('', [STABLE, STABLE_TOO, CANARY]);
    const other = new RouteChoice(routeOf(''), pool.worker(0), new RouteCell(allocateRouteCell(1), 0));
    const counts: Record<string, number> = {};
    for (let at = 0; at < 150; at++) {
      for (const [port, count] of Object.entries(served(1))) counts[port] = (counts[port] ?? 0) + count;
      const lease = other.acquire(0, { tried: [], hash: undefined, failOpen: false });
      if (lease instanceof Lease) counts[lease.endpoint.port] = (counts[lease.endpoint.port] ?? 0) + 1;
    }
    expect(counts).toEqual({ 1: 100, 2: 100, 3: 100 });
    expect(choiceOf(0).branches).toHaveLength(1);
  });

  it('does not lose its share to a route that chooses by load, and takes turns only for ties', () => {
    const { pool, served } = scene('', [STABLE, STABLE_TOO]);
    const byLoad = new RouteChoice(
      routeOf('balance: { policy: least_request }'),
      pool.worker(0),
      new RouteCell(allocateRouteCell(1), 0),
    );
    const counts: Record<string, number> = {};
    for (let at = 0; at < 100; at++) {
      const lease = byLoad.acquire(0, { tried: [], hash: undefined, failOpen: false });
      if (lease instanceof Lease) lease.release('client_gone');
      for (const [port, count] of Object.entries(served(1))) counts[port] = (counts[port] ?? 0) + count;
    }
    expect(counts).toEqual({ 1: 50, 2: 50 });
  });
});

describe('a split', () => {
  it.each([1, 2, 8])('by weight is exact over %d workers, and round robin in each branch', (workers) => {
    const { served } = scene(BY_WEIGHT, [STABLE, STABLE_TOO, CANARY], workers);
    expect(served(2000)).toEqual({ 1: 950, 2: 950, 3: 100 });
  });

  it('spreads the few evenly among the many', () => {
    const { request } = scene(BY_WEIGHT, [STABLE, CANARY]);
    const canaries = Array.from({ length: 200 }, (_, worker) => request({}, { worker }).to).flatMap((to, at) =>
      to === 3 ? [at] : [],
    );
    const gaps = canaries.slice(1).map((at, nth) => at - (canaries[nth] ?? 0));
    expect(new Set(gaps)).toEqual(new Set([20]));
  });

  it('has a label for each branch: its tags and metadata, or its number', () => {
    const text = 'split: [{ weight: 1, tags: [a, b], meta: { zone: x } }, { weight: 1 }]';
    expect(
      scene(text, [STABLE])
        .choiceOf(0)
        .branches.map(({ label }) => label),
    ).toEqual(['a+b+zone=x', '#2']);
  });

  it('sends to a branch without weight by its rule only', () => {
    const beta = endpoint(4, { meta: { zone: 'b' } });
    const { served } = scene(BY_RULE, [STABLE, CANARY, beta]);
    expect(served(100)).toEqual({ 1: 100 });
    expect(served(10, { fields: ['x-canary: 1'] })).toEqual({ 3: 10 });
    expect(served(10, { fields: ['Cookie: a=1; beta=anything'] })).toEqual({ 4: 10 });
    expect(served(10, { fields: ['Cookie: beta='] })).toEqual({ 4: 10 });
    expect(served(10, { fields: ['X-Canary: 2', 'Cookie: betamax=1'] })).toEqual({ 1: 10 });
  });

  it('goes by the first rule that holds', () => {
    const beta = endpoint(4, { meta: { zone: 'b' } });
    const { served } = scene(BY_RULE, [STABLE, CANARY, beta]);
    expect(served(10, { fields: ['X-Canary: 1', 'Cookie: beta=1'] })).toEqual({ 3: 10 });
  });

  it('gives a branch with a rule its weight as well', () => {
    const text = 'split: [{ weight: 3, tags: [stable] }, { weight: 1, tags: [canary], when: { header: x-canary } }]';
    const { served } = scene(text, [STABLE, CANARY]);
    expect([served(400), served(5, { fields: ['X-Canary:'] })]).toEqual([{ 1: 300, 3: 100 }, { 3: 5 }]);
  });

  it('narrows the subset of its route', () => {
    const text =
      'subset: { meta: { env: live } }\nsplit: [{ weight: 1, tags: [canary] }, { weight: 0, when: { header: x } }]';
    const live = endpoint(5, { tags: ['canary'], meta: { env: 'live' } });
    const { served } = scene(text, [STABLE, CANARY, live]);
    expect([served(10), served(10, { fields: ['X: 1'] })]).toEqual([{ 5: 10 }, { 5: 10 }]);
  });
});

describe('a branch without endpoints', () => {
  it('is stood in for by another, and the label says so', () => {
    const { pool, request } = scene(BY_WEIGHT, [STABLE, CANARY]);
    pool.update([CANARY]);
    expect(request()).toEqual({ to: 3, label: 'canary instead of stable' });
    pool.update([STABLE]);
    const labels = new Set(Array.from({ length: 20 }, () => request().label));
    expect(labels).toEqual(new Set(['stable', 'stable instead of canary']));
    pool.update([]);
    expect(request()).toEqual({ to: 'empty', label: 'stable' });
  });

  it('is stood in for when its endpoints are set aside, also where that would be failing open', () => {
    const { pool, request } = scene(BY_RULE, [STABLE, CANARY]);
    const canary = { fields: ['X-Canary: 1'] };
    pool.requests(60, badFor(3));
    expect(pool.out()).toEqual([3]);
    for (const failOpen of [false, true]) {
      expect(request(canary, { failOpen })).toEqual({ to: 1, label: 'stable instead of canary' });
    }
  });

  it('is not stood in for by one that is for its rule alone', () => {
    const { pool, request } = scene(BY_RULE, [CANARY]);
    expect(request()).toEqual({ to: 'empty', label: 'stable' });
    expect(request({ fields: ['X-Canary: 1'] })).toEqual({ to: 3, label: 'canary' });
    pool.update([STABLE]);
    expect(request({ fields: ['X-Canary: 1'] })).toEqual({ to: 1, label: 'stable instead of canary' });
  });

  it('fails open when all of them are out', () => {
    const { pool, request } = scene(BY_WEIGHT, [STABLE, CANARY]);
    pool.requests(60, badFor(1, 3));
    expect(pool.out()).toEqual([1, 3]);
    expect(request({}, { failOpen: false }).to).toBe('ejected');
    expect(request({}, { failOpen: true })).toEqual({ to: 1, label: 'stable' });
    pool.update([CANARY]);
    expect(request({}, { failOpen: true })).toEqual({ to: 3, label: 'canary instead of stable' });
  });
});

describe('a route that hashes', () => {
  const endpoints = [STABLE, STABLE_TOO, CANARY, endpoint(4), endpoint(5)];
  const text = 'balance: { policy: consistent_hash, hash: { on: header, name: X-User, boundedLoad: off } }';

  it('sends the same key to the same endpoint, from every worker', () => {
    const { served } = scene(text, endpoints);
    for (const user of ['ann', 'bob', 'eve']) {
      expect(Object.keys(served(30, { fields: [`X-User: ${user}`] }))).toHaveLength(1);
    }
  });

  it('spreads requests without a key, or with an empty one, over all (cases 123 and 124)', () => {
    const { served } = scene(text, endpoints);
    const even = { 1: 60, 2: 60, 3: 60, 4: 60, 5: 60 };
    expect([served(300), served(300, { fields: ['X-User:'] })]).toEqual([even, even]);
  });

  it("hashes the client's address where it is told to", () => {
    const { choiceOf } = scene('balance: { policy: consistent_hash, hash: { on: client_ip } }', endpoints);
    const [one, other] = ['192.0.2.1', '192.0.2.2'].map((client) => choiceOf(0).hashOf(describedRequest(), client));
    expect(one).not.toBe(other);
    expect(choiceOf(1).hashOf(describedRequest({ target: '/x' }), '192.0.2.1')).toBe(one);
  });

  it('has no hash of a request otherwise', () => {
    expect(scene('', endpoints).choiceOf(0).hashOf(describedRequest(), CLIENT)).toBeUndefined();
  });
});

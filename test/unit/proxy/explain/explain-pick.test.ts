import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../gateway/core/instance.ts';
import { Lease } from '../../../../gateway/pool/lease.ts';
import { operate } from '../../../../gateway/pool/operator.ts';
import { type EjectionReason, EndpointCell } from '../../../../gateway/shared/endpoint-cell.ts';
import { endpoint } from '../../../support/endpoints.ts';
import { type Asked, ExplainScene, type SceneOptions } from './explain-scene.ts';

const REFUSED: EjectionReason = { why: 'connection_refused', trigger: 'consecutive_failures', figure: 5 };

/** A scene with one route, `r`, of a service `s`. */
function sceneOf(route: object, endpoints: readonly Endpoint[], options: Partial<SceneOptions> = {}): ExplainScene {
  return new ExplainScene({ routes: { r: { service: 's', ...route } }, pools: { s: endpoints }, ...options });
}

/** Ejects the endpoint on that port for so many ms from now, which may be over already. */
function eject(scene: ExplainScene, port: number, forMs: number): void {
  const facts = scene.snapshot('s').endpoints.find((each) => each.port === port);
  if (facts === undefined) throw new Error(`no endpoint on port ${port}`);
  new EndpointCell(facts.cell, 0).eject(scene.clock.nowMs() + forMs, REFUSED);
}

/** What the next request really gets, in one of the workers. */
function acquireFor(scene: ExplainScene, { method = 'GET', url = '', headers = [] }: Asked, lane = 0) {
  const worker = scene.workers('r')[lane];
  if (worker === undefined) throw new Error(`no worker ${lane}`);
  const fields = new Map(headers.map((header) => [header.split(': ')[0] ?? '', header.split(': ')[1] ?? '']));
  const request = { target: url.replace('http://shop.test', ''), header: (name: string) => fields.get(name) };
  const branch = worker.choice.branchFor(request);
  const hash = worker.choice.hashOf(request, '203.0.113.7');
  const { fallback } = scene.routes[0] ?? {};
  const failOpen = fallback === null || fallback?.on.includes('unreachable') !== true;
  const isRepeatable = method !== 'POST';
  return worker.choice.acquire(branch, { tried: [], hash, failOpen, isRepeatable });
}

describe('the endpoint that is explained', () => {
  const anyEndpoint = fc.record({
    weight: fc.integer({ min: 0, max: 5 }),
    healthy: fc.constantFrom(true, true, true, false),
    tags: fc.subarray(['stable', 'canary']),
    forMs: fc.constantFrom(null, null, null, 5000, 0),
    word: fc.constantFrom(null, null, null, null, 'drain' as const, 'eject' as const),
  });
  const POLICIES = [
    { policy: 'weighted_round_robin' },
    { policy: 'least_request' },
    { policy: 'consistent_hash', hash: { on: 'header', name: 'x-user' } },
    { policy: 'random' },
    { policy: 'peak_ewma' },
  ];
  const SPLIT = [
    { weight: 3, tags: ['stable'] },
    { weight: 1, tags: ['canary'], when: { header: 'x-canary', equals: '1' } },
  ];
  const anyRoute = fc.record({
    balance: fc.constantFrom(...POLICIES),
    parts: fc.constantFrom({}, { split: SPLIT }, { subset: { tags: ['stable'] } }),
    fallback: fc.constantFrom({}, { fallback: { chain: [{ respond: {} }] } }),
    slowStart: fc.constantFrom({}, { slowStart: { window: '10s' } }),
  });
  const anyRequest = fc.record({
    user: fc.constantFrom(null, 'one', 'two', 'three'),
    isCanary: fc.boolean(),
    method: fc.constantFrom('GET', 'POST'),
  });

  it('is the one that the next request gets, in whatever worker, and asking for it changes nothing', () => {
    const all = fc.tuple(
      fc.array(anyEndpoint, { maxLength: 6 }),
      anyRoute,
      anyRequest,
      fc.nat({ max: 7 }),
      fc.nat({ max: 1 }),
    );
    fc.assert(
      fc.property(
        all,
        ([endpoints, { balance, parts, fallback, slowStart }, { user, isCanary, method }, before, lane]) => {
          const route = { balance, ...parts, ...fallback, ...slowStart };
          const scene = sceneOf(
            route,
            endpoints.map(({ weight, healthy, tags }, port) => endpoint(port, { weight, healthy, tags })),
          );
          for (const [port, { forMs, word }] of endpoints.entries()) {
            if (forMs !== null) eject(scene, port, forMs);
            if (word !== null) operate(scene.snapshot('s'), `127.0.0.1:${port}`, word, scene.clock.nowMs());
          }
          scene.clock.advance(500);
          const headers = [...(user === null ? [] : [`x-user: ${user}`]), ...(isCanary ? ['x-canary: 1'] : [])];
          const asked = { method, url: 'http://shop.test/x', headers };
          for (let count = 0; count < before; count++) acquireFor(scene, asked, count % 2);

          const octets = scene.octets();
          const { pick, outcome, endpoints: told, split } = scene.explain(asked);
          expect(scene.octets()).toBe(octets);

          const acquired = acquireFor(scene, asked, lane);
          if (!(acquired instanceof Lease)) {
            expect(outcome.kind).not.toBe('endpoint');
            expect(pick?.endpoint).toBeNull();
            return;
          }
          const { key } = acquired.endpoint;
          if (pick?.isCertain === true) expect(pick.endpoint).toBe(key);
          else expect(told.find((each) => each.endpoint === key)).toMatchObject({ isCandidate: true });
          if (split !== null && split.instead === null) {
            expect(acquired.group.labels?.tags).toEqual([split.branch]);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is each in its turn of the round robin, as the requests come', () => {
    const scene = sceneOf({}, [endpoint(1, { weight: 5 }), endpoint(2), endpoint(3)]);
    const told: (string | null | undefined)[] = [];
    const got: string[] = [];
    for (let turn = 0; turn < 14; turn++) {
      told.push(scene.explain().pick?.endpoint);
      const acquired = acquireFor(scene, { url: 'http://shop.test/' }, turn % 2);
      got.push(acquired instanceof Lease ? acquired.endpoint.key : acquired);
    }
    expect(told).toEqual(got);
    expect(new Set(told.slice(0, 7))).toHaveLength(3);
  });

  it('is the same however often it is asked for', () => {
    const scene = sceneOf({}, [endpoint(1), endpoint(2)]);
    const first = scene.explain();
    for (let times = 0; times < 5; times++) expect(scene.explain()).toEqual(first);
  });
});

// Keys behind a URL: fetched before they are needed, renewed, and kept when their server is slow, dead or wrong.
import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { PUBLIC_KEY_ALGORITHMS } from '../../../gateway/access/key-set.ts';
import { JwtAuthenticator } from '../../../gateway/auth/jwt-authenticator.ts';
import { createTextFetcher, type TextFetcher } from '../../../gateway/auth/key-fetch.ts';
import { RemoteKeys } from '../../../gateway/auth/key-holder.ts';
import type { Clock } from '../../../gateway/core/clock.ts';
import { createJwtIssuer } from '../../support/jwt-issuer.ts';
import { type LocalServer, startHttpServer } from '../../support/local-server.ts';
import { createRecordedLog } from '../../support/recorded-log.ts';
import { requestFacts, verdictAtOnce, verdictOf } from '../../support/request-facts.ts';
import { waitFor } from '../../support/wait-for.ts';

const PASS = { kind: 'pass', lines: 'x-user-id: anna\r\n', user: 'anna' };
const OUT = { kind: 'refuse', situation: 'auth_unavailable' };
const INVALID = { kind: 'refuse', situation: 'unauthorized' };

const one = createJwtIssuer('ES256', 'one');
const two = createJwtIssuer('ES256', 'two');

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server of keys whose answer the test changes, and an authenticator that goes by it. */
async function start(first: RequestListener | string = one.keySet, timeoutMs = 5000) {
  const server = { answer: first, asked: 0 };
  const local: LocalServer = await startHttpServer((request, response) => {
    server.asked++;
    const { answer } = server;
    if (typeof answer === 'string') response.setHeader('content-type', 'application/json').end(answer);
    else answer(request, response);
  });
  closing.push(() => local.stop());
  const fetcher: TextFetcher = createTextFetcher(timeoutMs);
  closing.push(() => fetcher.stop());
  let shiftMs = 0;
  const clock: Clock = { nowMs: () => performance.now() + shiftMs, wallMs: () => Date.now(), random: () => 0.5 };
  const log = createRecordedLog();
  const url = `http://127.0.0.1:${local.port}/keys?key=secret`;
  const keys = new RemoteKeys({ url, algorithms: PUBLIC_KEY_ALGORITHMS, fetch: fetcher.fetch, clock, log });
  const jwks = { kind: 'url' as const, url };
  const rules = { kind: 'jwt' as const, jwks, realm: 'a', issuer: null, audience: null };
  const jwt = new JwtAuthenticator(
    { ...rules, algorithms: PUBLIC_KEY_ALGORITHMS, claims: { sub: 'x-user-id' } },
    { keys, clock },
  );
  const shift = (ms: number): void => {
    shiftMs += ms;
  };
  return { server, local, keys, jwt, log, shift };
}

const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe('keys', () => {
  it('are fetched once for all who wait for them', async () => {
    const { server, jwt } = await start();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => one.token()));
    const verdicts = await Promise.all(tokens.map((token) => verdictOf(jwt, bearing(token))));
    for (const verdict of verdicts) expect(verdict).toEqual(PASS);
    expect(server.asked).toBe(1);
  });

  it('are fetched anew for a token whose key is unknown, at most every 30 s', async () => {
    const { server, jwt, shift } = await start();
    expect(await verdictOf(jwt, bearing(await one.token()))).toEqual(PASS);
    server.answer = JSON.stringify({ keys: [one.jwk, two.jwk] });
    for (let at = 0; at < 20; at++) {
      expect(await verdictOf(jwt, bearing(await two.token({ header: { kid: `${at}` } })))).toMatchObject(INVALID);
    }
    expect(server.asked).toBe(1);
    shift(30_001);
    expect(await verdictOf(jwt, bearing(await two.token()))).toEqual(PASS);
    expect(await verdictOf(jwt, bearing(await two.token({ header: { kid: 'three' } })))).toMatchObject(INVALID);
    expect(server.asked).toBe(2);
  });

  it('that are old are fetched anew while requests go on with them', async () => {
    const { server, jwt, shift } = await start();
    const token = await one.token();
    await verdictOf(jwt, bearing(token));
    shift(10 * 60_000 + 1);
    // The same set: what was verified stays so.
    expect(await verdictOf(jwt, bearing(await one.token()))).toEqual(PASS);
    await waitFor(() => server.asked === 2, { limitMs: 5000, what: 'a second fetch' });
  });

  it('that the issuer took back are not taken any more', async () => {
    const { server, jwt, keys, shift } = await start();
    const token = await one.token();
    expect(await verdictOf(jwt, bearing(token))).toEqual(PASS);
    server.answer = two.keySet;
    shift(10 * 60_000 + 1);
    await keys.renew();
    expect(await verdictOf(jwt, bearing(token))).toMatchObject(INVALID);
  });

  it('stay in use when their server dies, and this is said once', async () => {
    const { local, jwt, keys, log, shift } = await start();
    await verdictOf(jwt, bearing(await one.token()));
    await local.stop();
    closing.shift();
    for (let round = 0; round < 3; round++) {
      shift(10 * 60_000 + 1);
      await keys.renew();
      expect(await verdictOf(jwt, bearing(await one.token()))).toEqual(PASS);
    }
    expect(log.lines).toEqual(['warn: the keys for tokens cannot be fetched: those that were fetched before stay']);
    // Whether a token with another key is good cannot be found out now.
    expect(await verdictOf(jwt, bearing(await two.token()))).toMatchObject(OUT);
  });

  it.each<[string, RequestListener | string]>([
    ['an error', (_request, response) => response.writeHead(500).end(one.keySet)],
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/keys' }).end(one.keySet)],
    ['no JSON', '<html>'],
    ['another JSON', '{"error":"later"}'],
    ['an empty set', '{"keys":[]}'],
    ['a set of secrets', JSON.stringify({ keys: [{ kty: 'oct', k: 'A'.repeat(86) }] })],
    [
      'half an answer',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"keys":');
        response.socket?.destroySoon();
      },
    ],
    [
      'far too much',
      (_request, response) => {
        response.writeHead(200);
        response.on('error', () => undefined);
        response.write('{"keys":[');
        response.end(' '.repeat(2 * 1024 * 1024));
      },
    ],
    ['nothing in time', () => undefined],
  ])(
    'cannot be had from a server with %s: nobody comes in, and those that were there before stay',
    async (_what, wrong) => {
      const { server, jwt, keys, log, shift } = await start(wrong, 300);
      expect(await verdictOf(jwt, bearing(await one.token()))).toMatchObject(OUT);
      server.answer = one.keySet;
      // It is not asked again for a second.
      const asked = server.asked;
      expect(await verdictOf(jwt, bearing(await one.token()))).toMatchObject(OUT);
      expect(server.asked).toBe(asked);
      shift(1001);
      expect(await verdictOf(jwt, bearing(await one.token()))).toEqual(PASS);
      // A line in 30 s; who comes later lets the log catch up.
      shift(30_000);
      expect(await verdictOf(jwt, bearing(await one.token()))).toEqual(PASS);
      server.answer = wrong;
      shift(10 * 60_000 + 1);
      await keys.renew();
      expect(await verdictOf(jwt, bearing(await one.token()))).toEqual(PASS);
      expect(log.lines).toEqual([
        'warn: the keys for tokens cannot be fetched: nobody comes in with a token',
        'info: the service for authentication answers again',
        'warn: the keys for tokens cannot be fetched: those that were fetched before stay',
      ]);
    },
  );

  it('that are slow to come keep a token with a known key waiting for nobody, however many name unknown ones', async () => {
    const { server, jwt, shift } = await start();
    expect(await verdictOf(jwt, bearing(await one.token()))).toEqual(PASS);
    server.answer = () => undefined;
    shift(30_001);
    const [, payload] = (await one.token()).split('.');
    const checks = Array.from({ length: 500 }, (_, at) => {
      const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: `none ${at}` })).toString('base64url');
      return jwt.check(requestFacts(bearing(`${header}.${payload}.AAAA`)), () => undefined);
    });
    await waitFor(() => server.asked === 2, { limitMs: 5000, what: 'the fetch' });
    expect(checks.filter((check) => check !== null)).toHaveLength(100);
    expect(await verdictOf(jwt, bearing(await one.token({ expiresIn: 200 })))).toEqual(PASS);
  });

  it('that are slow to come keep nobody who left, and the token is verified for who stayed', async () => {
    const pending: (() => void)[] = [];
    const { server, jwt } = await start((_request, response) => void pending.push(() => response.end(one.keySet)));
    const token = await one.token();
    const heard: string[] = [];
    const facts = bearing(token);
    const check = jwt.check(requestFacts(facts), () => heard.push('left'));
    const stayed = verdictOf(jwt, facts);
    check?.cancel();
    await waitFor(() => pending.length === 1, { limitMs: 5000, what: 'the fetch' });
    pending[0]?.();
    expect(await stayed).toEqual(PASS);
    expect(heard).toEqual([]);
    expect(server.asked).toBe(1);
    expect(verdictAtOnce(jwt, facts)).toEqual(PASS);
  });
});

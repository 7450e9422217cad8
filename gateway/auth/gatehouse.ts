// The gatekeepers of all routes of a worker, and what they keep over a change of the routes.
import { hash } from 'node:crypto';
import type { AccessRules, AuthRules } from '../access/access-rules.ts';
import { compileAddressCheck } from '../access/address-check.ts';
import { type Cors, prepareCors } from '../access/cors.ts';
import {
  type Authenticator,
  type Decided,
  type Gatekeeper,
  PASS,
  type PendingCheck,
  type RequestFacts,
  type Verdict,
} from '../access/gatekeeper.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { NetworkCheck } from '../core/networks.ts';
import { BasicAuthenticator } from './basic-authenticator.ts';
import { ForwardAuthenticator } from './forward-authenticator.ts';
import { JwtAuthenticator } from './jwt-authenticator.ts';
import { createTextFetcher } from './key-fetch.ts';
import { type KeyHolder, keysOfFile, RemoteKeys } from './key-holder.ts';
import { PasswordThread } from './password-thread.ts';

export interface GatehouseOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/** The rules of a route. */
export interface RouteAccess extends AccessRules {
  readonly name: string;
  readonly service: string;
}

/** Made for the same rules, the same authenticator stays: with its memory, its keys and its connections. */
interface Kept {
  readonly authenticator: Authenticator;
  readonly stop: () => Promise<void>;
}

const NOTHING: ReadonlySet<string> = new Set();
const FORBIDDEN: Verdict = { kind: 'refuse', situation: 'forbidden', lines: '' };

export class Gatehouse {
  readonly #options: GatehouseOptions;
  readonly #passwords = new PasswordThread();
  readonly #fetcher = createTextFetcher();
  #kept: ReadonlyMap<string, Kept> = new Map();

  constructor(options: GatehouseOptions) {
    this.#options = options;
  }

  /**
   * The gatekeepers of these routes by their names; a route that lets everybody in and has no CORS has none, unless
   * another route of its service tells who it is. What no route asks for any more ends when the requests that use it
   * have ended.
   */
  prepare(routes: readonly RouteAccess[]): ReadonlyMap<string, Gatekeeper> {
    const kept = new Map<string, Kept>();
    const gatekeepers = new Map<string, Gatekeeper>();
    const prepared = routes.map((route) => {
      const authenticator = route.auth === null ? null : this.#authenticator(route.auth, kept);
      return { route, authenticator };
    });
    const told = toldByService(prepared);
    for (const { route, authenticator } of prepared) {
      const cors = route.cors === null ? null : prepareCors(route.cors);
      const isWelcome = compileAddressCheck(route);
      const ownFields = (authenticator?.ownFields ?? NOTHING).union(told.get(route.service) ?? NOTHING);
      const isOpen = authenticator === null && cors === null && isWelcome === null;
      if (isOpen && ownFields.size === 0) continue;
      gatekeepers.set(route.name, createGatekeeper({ isWelcome, cors, authenticator, ownFields, isOpen }));
    }
    const before = this.#kept;
    this.#kept = kept;
    for (const [key, { stop }] of before) if (!kept.has(key)) void this.#letGo(stop);
    return gatekeepers;
  }

  /** Ends everything; passwords and keys that are waited for come to `auth_unavailable`. */
  async stop(): Promise<void> {
    const kept = [...this.#kept.values()];
    this.#kept = new Map();
    await Promise.all([...kept.map(({ stop }) => stop()), this.#passwords.stop(), this.#fetcher.stop()]);
  }

  #authenticator(rules: AuthRules, kept: Map<string, Kept>): Authenticator {
    const key = keyOf(rules);
    const one = kept.get(key) ?? this.#kept.get(key) ?? this.#create(rules);
    kept.set(key, one);
    return one.authenticator;
  }

  #create(rules: AuthRules): Kept {
    const { clock, log } = this.#options;
    const stop = () => Promise.resolve();
    switch (rules.kind) {
      case 'basic':
        return { authenticator: new BasicAuthenticator(rules, { passwords: this.#passwords, clock }), stop };
      case 'jwt': {
        const { jwks, algorithms } = rules;
        const keys: KeyHolder =
          jwks.kind === 'file'
            ? keysOfFile(jwks.content, algorithms)
            : new RemoteKeys({ url: jwks.url, algorithms, fetch: this.#fetcher.fetch, clock, log });
        // The first request shall not have to wait for them.
        keys.current();
        return { authenticator: new JwtAuthenticator(rules, { keys, clock }), stop };
      }
      case 'forward': {
        const authenticator = new ForwardAuthenticator(rules, { clock, log });
        return { authenticator, stop: () => authenticator.stop() };
      }
    }
  }

  async #letGo(stop: () => Promise<void>): Promise<void> {
    await stop().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'an authentication that is not used any more did not end cleanly');
    });
  }
}

/** Fields that carry credentials as well: where nobody is checked they are the service's own affair. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/**
 * The fields that tell each service who it is. What one route of a service verifies must not be claimed through another
 * one: the service cannot see which of them a request has come by.
 */
function toldByService(
  prepared: readonly { readonly route: RouteAccess; readonly authenticator: Authenticator | null }[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const told = new Map<string, ReadonlySet<string>>();
  for (const { route, authenticator } of prepared) {
    if (authenticator === null) continue;
    const fields = authenticator.ownFields.difference(CREDENTIALS);
    told.set(route.service, fields.union(told.get(route.service) ?? NOTHING));
  }
  return told;
}

interface Checks extends Pick<Gatekeeper, 'ownFields' | 'isOpen'> {
  readonly isWelcome: NetworkCheck | null;
  readonly cors: Cors | null;
  readonly authenticator: Authenticator | null;
}

function createGatekeeper({ isWelcome, cors, authenticator, ownFields, isOpen }: Checks): Gatekeeper {
  return {
    ownFields,
    isOpen,
    cors,
    check(request: RequestFacts, decided: Decided): PendingCheck | null {
      if (isWelcome !== null && !isWelcome(request.client)) {
        decided(FORBIDDEN);
        return null;
      }
      // Browsers send preflights without credentials.
      const preflight = cors?.preflightLines(request) ?? null;
      if (preflight !== null) {
        const lines = `${preflight}X-Request-Id: ${request.requestId}\r\n`;
        decided({ kind: 'answer', status: 204, reason: 'No Content', lines, content: Buffer.alloc(0) });
        return null;
      }
      if (authenticator !== null) return authenticator.check(request, decided);
      decided(PASS);
      return null;
    },
  };
}

/** Equal rules have equal keys; contents of files are told by their digests. */
function keyOf(rules: AuthRules): string {
  return JSON.stringify(rules, (_key, value: unknown) => {
    return value instanceof Uint8Array ? hash('sha256', value) : value;
  });
}

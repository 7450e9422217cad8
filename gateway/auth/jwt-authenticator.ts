// A bearer token that is a signed JWT, and what its claims tell the service.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JwtRules } from '../access/access-rules.ts';
import { bearerChallenge } from '../access/challenge.ts';
import { type ClaimField, claimLines } from '../access/claim-lines.ts';
import { readBearer } from '../access/credentials.ts';
import {
  type Authenticator,
  type Decided,
  type PendingCheck,
  type RequestFacts,
  UNAVAILABLE,
  type Verdict,
} from '../access/gatekeeper.ts';
import { fittingKeys, type VerificationKey } from '../access/key-set.ts';
import { ownFields } from '../access/own-fields.ts';
import type { Clock } from '../core/clock.ts';
import { JointChecks } from './joint-checks.ts';
import type { KeyHolder } from './key-holder.ts';
import { checkToken, type TokenHeader, type TokenVerdict, tokenHeader } from './token-check.ts';

export interface JwtParts {
  readonly keys: KeyHolder;
  readonly clock: Clock;
}

/** Longer tokens are nobody's. */
const LONGEST_TOKEN = 16 * 1024;

/** How long a token that was good is remembered at most, and how many are. */
const REMEMBERED_MS = 5 * 60_000;
const MOST_REMEMBERED = 10_000;

/** Distinct tokens that are verified at a time. */
const MOST_OPEN = 500;
/** Of tokens that name a key which is not known, or while none is. */
const MOST_UNKNOWN = 100;

interface Remembered {
  readonly verdict: Verdict;
  /** By the time of day, as tokens count. */
  readonly untilMs: number;
  /** What it was verified with: with other keys it is verified again. */
  readonly keys: readonly VerificationKey[];
}

export class JwtAuthenticator implements Authenticator {
  readonly ownFields: ReadonlySet<string>;
  readonly #rules: JwtRules;
  readonly #parts: JwtParts;
  readonly #claims: readonly ClaimField[];
  readonly #missing: Verdict;
  readonly #invalid: Verdict;
  readonly #remembered = new LRUCache<string, Remembered>({ max: MOST_REMEMBERED });
  readonly #open = new JointChecks(MOST_OPEN);
  readonly #unknown = new JointChecks(MOST_UNKNOWN);

  constructor(rules: JwtRules, parts: JwtParts) {
    this.#rules = rules;
    this.#parts = parts;
    this.#claims = Object.entries(rules.claims);
    this.ownFields = ownFields(Object.values(rules.claims));
    this.#missing = { kind: 'refuse', situation: 'unauthorized', lines: bearerChallenge(rules.realm, false) };
    this.#invalid = { kind: 'refuse', situation: 'unauthorized', lines: bearerChallenge(rules.realm, true) };
  }

  check(request: RequestFacts, decided: Decided): PendingCheck | null {
    const field = request.header('authorization');
    if (field === undefined) {
      decided(this.#missing);
      return null;
    }
    const token = readBearer(field, LONGEST_TOKEN);
    if (token === undefined) {
      decided(this.#invalid);
      return null;
    }
    const key = hash('sha256', token, 'base64');
    const keys = this.#parts.keys.current();
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined && remembered.keys === keys && remembered.untilMs > this.#parts.clock.wallMs()) {
      decided(remembered.verdict);
      return null;
    }
    return this.#verify(token, key, decided);
  }

  #verify(token: string, key: string, decided: Decided): PendingCheck | null {
    const header = tokenHeader(token, this.#rules.algorithms);
    if (header === undefined) {
      decided(this.#invalid);
      return null;
    }
    const keys = this.#parts.keys.current();
    const isKnown = keys !== null && fittingKeys(keys, header).length > 0;
    // Who names keys that nobody knows must not take the places of the others while the issuer is asked.
    const checks = isKnown ? this.#open : this.#unknown;
    const pending = checks.join(key, decided, (decide) => {
      this.#verdict(token, header, key).then(decide, () => decide(UNAVAILABLE));
      return () => undefined;
    });
    if (pending === null) decided(UNAVAILABLE);
    return pending;
  }

  async #verdict(token: string, header: TokenHeader, key: string): Promise<Verdict> {
    const { keys: holder, clock } = this.#parts;
    if (holder.current() === null) await holder.renew();
    let keys = holder.current();
    if (keys === null) return UNAVAILABLE;
    let verdict = await checkToken({ token, header, keys, wallMs: clock.wallMs() }, this.#rules);
    if (verdict.kind === 'unknown key') {
      await holder.renew();
      keys = holder.current() ?? keys;
      verdict = await checkToken({ token, header, keys, wallMs: clock.wallMs() }, this.#rules);
      // The token may be good: who could say it does not answer.
      if (verdict.kind === 'unknown key' && holder.isOut) return UNAVAILABLE;
    }
    return this.#judge(verdict, key, keys);
  }

  #judge(verdict: TokenVerdict, key: string, keys: readonly VerificationKey[]): Verdict {
    const lines = verdict.kind === 'good' ? claimLines(verdict.claims, this.#claims) : undefined;
    if (verdict.kind !== 'good' || lines === undefined) return this.#invalid;
    const { sub } = verdict.claims;
    // Issuers are trusted in what they sign, not in its type.
    const pass: Verdict = { kind: 'pass', lines, user: typeof sub === 'string' && sub !== '' ? sub : null };
    const untilMs = Math.min(verdict.expiresMs, this.#parts.clock.wallMs() + REMEMBERED_MS);
    this.#remembered.set(key, { verdict: pass, untilMs, keys });
    return pass;
  }
}

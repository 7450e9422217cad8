// User name and password (RFC 7617) against the users of a route's file.
import { hash as digest, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BasicRules } from '../access/access-rules.ts';
import { basicChallenge } from '../access/challenge.ts';
import { readBasic } from '../access/credentials.ts';
import {
  type Authenticator,
  type Decided,
  type PendingCheck,
  type RequestFacts,
  UNAVAILABLE,
  type Verdict,
} from '../access/gatekeeper.ts';
import { identityText } from '../access/identity-text.ts';
import { ownFields } from '../access/own-fields.ts';
import type { PasswordHash } from '../access/password-hash.ts';
import { readUsers, type Users } from '../access/users-file.ts';
import type { Clock } from '../core/clock.ts';
import { JointChecks } from './joint-checks.ts';
import type { PasswordThread } from './password-thread.ts';

export interface BasicParts {
  readonly passwords: PasswordThread;
  readonly clock: Clock;
}

/** How long a password that was right is remembered, and how many are. */
const REMEMBERED_MS = 5 * 60_000;
const MOST_REMEMBERED = 1000;

/** Distinct credentials that are checked at a time; the password thread is narrower. */
const MOST_OPEN = 1000;

/** Longer fields are nobody's credentials. */
const LONGEST_FIELD = 4096;

interface Remembered {
  readonly verdict: Verdict;
  readonly untilMs: number;
}

export class BasicAuthenticator implements Authenticator {
  readonly ownFields: ReadonlySet<string>;
  readonly #rules: BasicRules;
  readonly #users: Users;
  /** For names that nobody has. */
  readonly #hashes: readonly PasswordHash[];
  readonly #parts: BasicParts;
  readonly #refused: Verdict;
  /** Credentials are remembered as what this makes of them: the memory of the process does not show them. */
  readonly #secret = randomBytes(32).toString('hex');
  readonly #remembered = new LRUCache<string, Remembered>({ max: MOST_REMEMBERED });
  readonly #open = new JointChecks(MOST_OPEN);

  /** The content of the users file was checked when the route was loaded; one that is not valid has no users. */
  constructor(rules: BasicRules, parts: BasicParts) {
    const read = readUsers(rules.users.content);
    this.#rules = rules;
    this.#users = read.ok ? read.users : new Map();
    this.#hashes = [...this.#users.values()];
    this.#parts = parts;
    this.#refused = { kind: 'refuse', situation: 'unauthorized', lines: basicChallenge(rules.realm) };
    this.ownFields = ownFields(rules.passCredentials ? [rules.userHeader] : [rules.userHeader, 'authorization']);
  }

  check(request: RequestFacts, decided: Decided): PendingCheck | null {
    const field = request.header('authorization');
    if (field === undefined || field.length > LONGEST_FIELD) {
      decided(this.#refused);
      return null;
    }
    const key = this.#digest(field);
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined && remembered.untilMs > this.#parts.clock.nowMs()) {
      decided(remembered.verdict);
      return null;
    }
    return this.#ask(request, { field, key }, decided);
  }

  #ask(request: RequestFacts, { field, key }: { field: string; key: string }, decided: Decided): PendingCheck | null {
    const credentials = readBasic(field);
    if (credentials === undefined) {
      decided(this.#refused);
      return null;
    }
    const { name, password } = credentials;
    const own = this.#users.get(name);
    const hash = own ?? this.#decoy(name);
    if (hash === undefined) {
      decided(this.#refused);
      return null;
    }
    const pending = this.#open.join(key, decided, (decide) => {
      return this.#parts.passwords.ask({ hash, password, client: request.client }, (answer) => {
        if (answer === 'unknown') decide(UNAVAILABLE);
        else decide(answer === 'right' && own !== undefined ? this.#welcome(key, name) : this.#refused);
      });
    });
    if (pending === null) decided(UNAVAILABLE);
    return pending;
  }

  #welcome(key: string, name: string): Verdict {
    const lines = `${this.#rules.userHeader}: ${identityText(name) ?? ''}\r\n`;
    const verdict: Verdict = { kind: 'pass', lines, user: name };
    this.#remembered.set(key, { verdict, untilMs: this.#parts.clock.nowMs() + REMEMBERED_MS });
    return verdict;
  }

  /**
   * The hash that a name of nobody is checked against in earnest and in vain: always the same one for the same name, so
   * that time does not tell which names there are.
   */
  #decoy(name: string): PasswordHash | undefined {
    if (this.#hashes.length === 0) return undefined;
    return this.#hashes[Buffer.from(this.#digest(`name ${name}`), 'base64').readUInt32BE() % this.#hashes.length];
  }

  /** The construction of HMAC with two whole keys of a block, without the object that `createHmac` makes each time. */
  #digest(text: string): string {
    return digest('sha256', this.#secret + digest('sha256', this.#secret + text, 'base64'), 'base64');
  }
}

// The token that etcd wants where its authentication is on: asked for once, shared, and renewed before it expires.
import type { Pool } from 'undici';
import type { Clock } from '../core/clock.ts';
import { getJson } from './http-get.ts';
import { isObject, parseJson } from './record.ts';

export interface EtcdCredentials {
  /** '' where etcd asks for none. */
  readonly username: string;
  readonly password: string;
}

/** The header fields that a request to the cluster needs, or why there are none. */
export type LoginResult = { readonly headers: Readonly<Record<string, string>> } | { readonly error: string };

/** Milliseconds after which a token is renewed: etcd's own live for five minutes. */
const RENEW_MS = 120_000;

const DEADLINE_MS = 5000;

/** The login of one source: all its services share the token. */
export class EtcdLogin {
  readonly #credentials: EtcdCredentials;
  readonly #clock: Clock;
  #current: { readonly result: Promise<LoginResult>; readonly atMs: number } | null = null;

  constructor(credentials: EtcdCredentials, clock: Clock) {
    this.#credentials = credentials;
    this.#clock = clock;
  }

  /** The token in force; the member behind `pool` is asked where there is none or it is old. */
  async token(pool: Pool): Promise<LoginResult> {
    if (this.#credentials.username === '') return { headers: {} };
    const nowMs = this.#clock.nowMs();
    if (this.#current === null || nowMs - this.#current.atMs > RENEW_MS) {
      this.#current = { result: this.#ask(pool), atMs: nowMs };
    }
    const asked = this.#current;
    const result = await asked.result;
    if ('error' in result && this.#current === asked) this.#current = null;
    return result;
  }

  /** The token may be why a request failed: a member that was restarted has forgotten it. */
  forget(): void {
    this.#current = null;
  }

  async #ask(pool: Pool): Promise<LoginResult> {
    const { username: name, password } = this.#credentials;
    const result = await getJson(pool, {
      target: '/v3/auth/authenticate',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, password }),
      deadlineMs: DEADLINE_MS,
      signal: new AbortController().signal,
    });
    if (result.kind === 'failure') return { error: `the login failed: ${result.error}` };
    const json = parseJson(result.text);
    const token = 'value' in json && isObject(json.value) ? json.value.token : undefined;
    return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)
      ? { headers: { authorization: token } }
      : { error: 'the login gave no token' };
  }
}

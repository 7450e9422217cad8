// The seam of who may come in: what is told of a request, and what becomes of it.
import type { ErrorSituation } from '../core/errors.ts';
import type { Cors } from './cors.ts';

/** What the checks see of a request. */
export interface RequestFacts {
  readonly method: string;
  /** In origin form, as the client sent it. */
  readonly target: string;
  /** The authority, as the client wrote it, or a trusted proxy says that it did. */
  readonly host: string;
  /** The address of the real client: behind trusted proxies the one that they name. */
  readonly client: string;
  readonly isTls: boolean;
  readonly requestId: string;
  /** The values of a field by its lower-case name, joined; undefined when it is absent. */
  header(name: string): string | undefined;
}

/** What becomes of a request. All lines are Latin-1 text, each with its CRLF. */
export type Verdict =
  /** It goes on, with these fields of who it is. `user` is the name that was verified, for the access log; null for none. */
  | { readonly kind: 'pass'; readonly lines: string; readonly user: string | null }
  /** Weir refuses it in its own words, with these fields added. */
  | { readonly kind: 'refuse'; readonly situation: AccessSituation; readonly lines: string }
  /** It is answered so: a preflight, or what another service wants the client to be told. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly reason: string;
      /** With Content-Length, where the status may have one. */
      readonly lines: string;
      readonly content: Buffer;
    };

export type AccessSituation = Extract<ErrorSituation, 'forbidden' | 'unauthorized' | 'auth_unavailable'>;

export type Decided = (verdict: Verdict) => void;

/** A check under way. */
export interface PendingCheck {
  /** The client left: `decided` will not be called. */
  cancel(): void;
}

/** Checks one thing about requests. */
export interface Authenticator {
  /** Lower-case names of the fields that only Weir may give to the service: they are taken out of every request. */
  readonly ownFields: ReadonlySet<string>;
  /** Calls `decided` once: before it returns null, or later, unless the check it returns is called off. */
  check(request: RequestFacts, decided: Decided): PendingCheck | null;
}

/** All checks of one route, in their order: address, preflight, authentication. */
export interface Gatekeeper extends Authenticator {
  /** Whether nobody is checked: fields are taken out, and that is all. */
  readonly isOpen: boolean;
  /** What every answer to a request of the route gets, whoever gives it; null where CORS is the service's own affair. */
  readonly cors: Pick<Cors, 'dropResponseFields' | 'linesFor'> | null;
}

/** A request that goes on without anything to be told of it. */
export const PASS: Verdict = { kind: 'pass', lines: '', user: null };

/** Nobody comes in while it cannot be found out who may. */
export const UNAVAILABLE: Verdict = { kind: 'refuse', situation: 'auth_unavailable', lines: '' };

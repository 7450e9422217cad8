// The sections of a route about choosing an endpoint: which ones may be chosen, by what policy, in what shares.
import { z } from 'zod';
import { BALANCE_POLICIES } from '../balancing/make-balancer.ts';
import { MAX_BRANCHES } from '../core/split.ts';
import { type Checking, choice, decimal, duration, list, refuse, section, text, whole } from './fields.ts';
import { fieldName, fieldValue } from './http-fields.ts';

const word = text('text', (written) => written);

const tags = list(word, { of: 'tags' }).prefault([]).describe('Tags that an endpoint must carry, all of them.');
const meta = z
  .record(z.string(), word, { error: 'a mapping of names to text' })
  .prefault({})
  .describe('Metadata that an endpoint must carry, each entry with this value.');

/** What parts of a request may be a key, and which of them need the name of a field. */
const KEYED_BY_NAME: readonly string[] = ['header', 'cookie'];

const hash = section({
  on: choice(['header', 'cookie', 'client_ip', 'path', 'query']).describe('The part of a request that is its key.'),
  name: fieldName
    .exactOptional()
    .describe('Of the header, the cookie, or the parameter of the query; absent with query: all of it.'),
  boundedLoad: decimal({ min: 1, max: 100, off: true })
    .default(1.25)
    .describe('How far above the mean load an endpoint may go before its keys go on to the next, or "off".'),
}).transform(({ on, name = null, boundedLoad }, checking) => {
  checkKeyName({ on, name, mayBeNamed: on === 'query' }, checking);
  return { on, name: keyName(on, name), boundedLoad: boundedLoad === 'off' ? Number.POSITIVE_INFINITY : boundedLoad };
});

/** The `balance` section. */
export const balance = section({
  policy: choice(BALANCE_POLICIES).default('weighted_round_robin').describe('How an endpoint is chosen.'),
  hash: hash.exactOptional().describe('The key of consistent_hash; requests without one go by weighted round robin.'),
}).transform(({ policy, hash = null }, checking) => {
  if (policy === 'consistent_hash' && hash === null) {
    refuse(checking, { wrong: 'consistent_hash without a key', expected: 'hash to be set as well', path: ['policy'] });
  }
  if (policy !== 'consistent_hash' && hash !== null) {
    refuse(checking, { wrong: 'has no effect', expected: 'policy to be consistent_hash', path: ['hash'], at: 'key' });
  }
  return { policy, hash };
});

/** The `subset` section: only endpoints that carry all of this are chosen. */
export const subset = section({ tags, meta });

const branch = section({
  weight: whole({ min: 0, max: 65_535 }).describe('Share of the requests that no rule sends elsewhere.'),
  tags,
  meta,
  when: section({
    header: fieldName.exactOptional().describe('The header field that decides.'),
    cookie: fieldName.exactOptional().describe('The cookie that decides.'),
    equals: fieldValue.prefault('*').describe('The value it must have; "*" = any, but present.'),
  })
    .transform(({ header, cookie, equals }, checking) => {
      if (header !== undefined && cookie === undefined) {
        return { on: 'header' as const, name: header.toLowerCase(), equals };
      }
      if (cookie !== undefined && header === undefined) return { on: 'cookie' as const, name: cookie, equals };
      return refuse(checking, { wrong: 'not one condition', expected: 'either header or cookie' });
    })
    .exactOptional()
    .describe('Requests of which this holds go here, whatever the weight.'),
}).transform(({ when = null, ...rest }) => ({ ...rest, when }));

/** The `split` section: the first branch whose rule holds takes a request, else the weights decide. */
export const split = list(branch, { of: 'branches, each with weight, tags, meta, when', min: 1 }).superRefine(
  (branches, checking) => {
    if (branches.length > MAX_BRANCHES) refuse(checking, { wrong: 'too many', expected: `at most ${MAX_BRANCHES}` });
    if (branches.length > 0 && branches.every(({ weight }) => weight === 0)) {
      refuse(checking, { wrong: 'all weights are 0', expected: 'one branch that takes the rest' });
    }
  },
);

/** The `slowStart` section. */
export const slowStart = section({
  window: duration({ max: '24h', off: true })
    .prefault('off')
    .describe('How long an endpoint that is new or back takes to its full weight, or "off".'),
  minPercent: whole({ min: 10, max: 100 })
    .default(10)
    .describe('Share of its weight with which it begins, in percent; it grows in tenths of the weight.'),
}).transform(({ window, minPercent }) => {
  return { windowMs: window === Number.POSITIVE_INFINITY ? 0 : window, minPercent };
});

/** Which part of a request is a key, with the name of the field where it needs one. */
export interface KeyName {
  readonly on: string;
  readonly name: string | null;
  /** Whether a name makes sense, but is not needed. */
  readonly mayBeNamed: boolean;
}

/** Refuses a key without the name that it needs, or with one that it does not. */
export function checkKeyName({ on, name, mayBeNamed }: KeyName, checking: Checking): void {
  const needsName = KEYED_BY_NAME.includes(on);
  if (needsName && name === null) refuse(checking, { wrong: `a key from a ${on}`, expected: 'name to be set as well' });
  if (!needsName && !mayBeNamed && name !== null) {
    refuse(checking, { wrong: `has no effect with ${on}`, path: ['name'], at: 'key' });
  }
}

/** The name as it is looked up: those of header fields in lower case. */
export function keyName(on: string, name: string | null): string | null {
  return on === 'header' ? (name?.toLowerCase() ?? null) : name;
}

// The sections of a route about choosing an endpoint: what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { MAX_BRANCHES } from '../../../gateway/core/split.ts';
import { checkRoute, problemLines, valid } from './checking.ts';

const OFF = Number.POSITIVE_INFINITY;

describe('accepted values', () => {
  it.each([
    ['balance: { policy: random }', ['balance'], { policy: 'random', hash: null }],
    ['balance: { policy: least_request }', ['balance', 'policy'], 'least_request'],
    ['balance: { policy: peak_ewma }', ['balance', 'policy'], 'peak_ewma'],
    [
      'balance: { policy: consistent_hash, hash: { on: header, name: X-User-Id } }',
      ['balance'],
      { policy: 'consistent_hash', hash: { on: 'header', name: 'x-user-id', boundedLoad: 1.25 } },
    ],
    [
      'balance: { policy: consistent_hash, hash: { on: cookie, name: Sid, boundedLoad: off } }',
      ['balance', 'hash'],
      { on: 'cookie', name: 'Sid', boundedLoad: OFF },
    ],
    [
      'balance: { policy: consistent_hash, hash: { on: client_ip, boundedLoad: 1 } }',
      ['balance', 'hash'],
      { on: 'client_ip', name: null, boundedLoad: 1 },
    ],
    ['balance: { policy: consistent_hash, hash: { on: path } }', ['balance', 'hash', 'on'], 'path'],
    ['balance: { policy: consistent_hash, hash: { on: query } }', ['balance', 'hash', 'name'], null],
    ['balance: { policy: consistent_hash, hash: { on: query, name: Id } }', ['balance', 'hash', 'name'], 'Id'],
    ['subset: { tags: [blue, "v 2"] }', ['subset'], { tags: ['blue', 'v 2'], meta: {} }],
    ['subset: { meta: { zone: a, "": "" } }', ['subset'], { tags: [], meta: { zone: 'a', '': '' } }],
    [
      'split: [{ weight: 95, tags: [stable] }, { weight: 5, meta: { v: "2" } }]',
      ['split'],
      [
        { weight: 95, tags: ['stable'], meta: {}, when: null },
        { weight: 5, tags: [], meta: { v: '2' }, when: null },
      ],
    ],
    ['split: [{ weight: 1, when: { header: X-Canary } }]', ['split', 0, 'when'], when('header', 'x-canary', '*')],
    [
      'split: [{ weight: 1 }, { weight: 0, when: { header: x, equals: "" } }]',
      ['split', 1, 'when'],
      when('header', 'x', ''),
    ],
    [
      'split: [{ weight: 65535, when: { cookie: Beta, equals: "1" } }]',
      ['split', 0, 'when'],
      when('cookie', 'Beta', '1'),
    ],
    ['slowStart: { window: 30s }', ['slowStart'], { windowMs: 30_000, minPercent: 10 }],
    ['slowStart: { window: 24h, minPercent: 100 }', ['slowStart'], { windowMs: 86_400_000, minPercent: 100 }],
    ['slowStart: { window: off, minPercent: 50 }', ['slowStart'], { windowMs: 0, minPercent: 50 }],
  ])('%s', (text, path, value) => {
    expect(valid(checkRoute(`service: a\n${text}`))).toHaveProperty(path, value);
  });

  it('as many branches as shared memory has turns for, and no more', () => {
    const split = (count: number) => `service: a\nsplit: [${Array(count).fill('{ weight: 1 }').join(', ')}]`;
    expect(valid(checkRoute(split(MAX_BRANCHES))).split).toHaveLength(MAX_BRANCHES);
    expect(problemLines(checkRoute(split(MAX_BRANCHES + 1)))).toEqual([
      `r.yaml:2:8 split: too many, expected at most ${MAX_BRANCHES}`,
    ]);
  });
});

function when(on: string, name: string, equals: string) {
  return { on, name, equals };
}

describe('refused values, each with its place and what was expected', () => {
  const policies = 'weighted_round_robin, random, least_request, peak_ewma or consistent_hash';
  const branches = 'expected a list of branches, each with weight, tags, meta, when, not empty';
  const weight = 'expected a whole number from 0 to 65535';
  const condition = 'not one condition, expected either header or cookie';
  const hash = (text: string): string => `balance: { policy: consistent_hash, hash: ${text} }`;

  it.each([
    ['balance: random', '2:10 balance: wrong type (text), expected a mapping with policy, hash'],
    ['balance: { policy: fastest }', `2:20 balance.policy: unknown value, expected ${policies}`],
    ['balance: { policy: randm }', `2:20 balance.policy: unknown value, expected ${policies}, did you mean "random"?`],
    [
      'balance: { policy: consistent_hash }',
      '2:20 balance.policy: consistent_hash without a key, expected hash to be set as well',
    ],
    ['balance: { hash: { on: client_ip } }', '2:12 balance.hash: has no effect, expected policy to be consistent_hash'],
    [hash('{ on: header }'), '2:43 balance.hash: a key from a header, expected name to be set as well'],
    [hash('{ on: cookie }'), '2:43 balance.hash: a key from a cookie, expected name to be set as well'],
    [hash('{ on: client_ip, name: x }'), '2:60 balance.hash.name: has no effect with client_ip'],
    [hash('{ on: path, name: x }'), '2:55 balance.hash.name: has no effect with path'],
    [
      hash('{ on: header, name: "a b" }'),
      '2:63 balance.hash.name: not valid, expected a header name like x-request-id',
    ],
    [hash('{ on: body }'), '2:49 balance.hash.on: unknown value, expected header, cookie, client_ip, path or query'],
    [hash('{}'), '2:37 balance.hash.on: missing, expected header, cookie, client_ip, path or query'],
    [
      hash('{ on: path, boundedLoad: 0.9 }'),
      '2:68 balance.hash.boundedLoad: out of range, expected a number from 1 to 100, or off',
    ],
    ['subset: [blue]', '2:9 subset: wrong type (a list), expected a mapping with tags, meta'],
    ['subset: { tags: blue }', '2:17 subset.tags: wrong type (text), expected a list of tags'],
    ['subset: { tags: [1] }', '2:18 subset.tags[0]: wrong type (a number), expected text'],
    ['subset: { meta: { zone: 1 } }', '2:25 subset.meta.zone: wrong type (a number), expected text'],
    ['subset: { tag: [x] }', '2:11 subset.tag: unknown key, did you mean "tags"?'],
    ['split: { weight: 1 }', `2:8 split: wrong type (a mapping), ${branches}`],
    ['split: []', `2:8 split: empty, ${branches}`],
    ['split: [{ tags: [x] }]', `2:9 split[0].weight: missing, ${weight}`],
    ['split: [{ weight: -1 }]', `2:19 split[0].weight: out of range, ${weight}`],
    ['split: [{ weight: 95% }]', `2:19 split[0].weight: wrong type (text), ${weight}`],
    [
      'split: [{ weight: 0 }, { weight: 0, when: { header: x } }]',
      '2:8 split: all weights are 0, expected one branch that takes the rest',
    ],
    ['split: [{ weight: 1, when: {} }]', `2:28 split[0].when: ${condition}`],
    ['split: [{ weight: 1, when: { header: a, cookie: b } }]', `2:28 split[0].when: ${condition}`],
    [
      'split: [{ weight: 1, when: { header: a, equals: 1 } }]',
      '2:49 split[0].when.equals: wrong type (a number), expected text (numbers in quotes) without control characters or outer spaces',
    ],
    ['slowStart: 10s', '2:12 slowStart: wrong type (text), expected a mapping with window, minPercent'],
    [
      'slowStart: { window: 10 }',
      '2:22 slowStart.window: wrong type (a number), expected a duration like 5s or 250ms, or off',
    ],
    ['slowStart: { window: 25h }', '2:22 slowStart.window: out of range, expected 1ms to 24h'],
    // Weights grow in tenths: less than one of them could not be kept.
    [
      'slowStart: { window: 10s, minPercent: 9 }',
      '2:39 slowStart.minPercent: out of range, expected a whole number from 10 to 100',
    ],
    [
      'slowStart: { minPercent: 10% }',
      '2:26 slowStart.minPercent: wrong type (text), expected a whole number from 10 to 100',
    ],
  ])('%s', (text, problem) => {
    expect(problemLines(checkRoute(`service: a\n${text}`))).toEqual([`r.yaml:${problem}`]);
  });

  it('all of a branch at once', () => {
    const lines = problemLines(
      checkRoute('service: a\nsplit: [{ weight: x, tags: y }, { weight: 1, when: { header: 1 } }]'),
    );
    expect(lines.map((line) => line.split(': ')[0])).toEqual([
      'r.yaml:2:19 split[0].weight',
      'r.yaml:2:28 split[0].tags',
      'r.yaml:2:62 split[1].when.header',
    ]);
  });
});

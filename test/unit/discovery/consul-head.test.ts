// Consul's header fields: the index as it stands, and when an empty list is not believed.
import { describe, expect, it } from 'vitest';
import { contentDoubt, isBackwards, readConsulHead, serverDoubt } from '../../../gateway/discovery/consul-head.ts';

describe('the index', () => {
  it.each([
    ['4711', '4711'],
    ['9007199254740993', '9007199254740993'],
    ['18446744073709551615', '18446744073709551615'],
    ['0', null],
    ['', null],
    ['-1', null],
    ['1e3', null],
    ['NaN', null],
    [undefined, null],
  ])('%j is read as %j (case 63)', (field, index) => {
    expect(readConsulHead({ 'x-consul-index': field }).index).toBe(index);
  });

  it.each([
    ['9007199254740992', '9007199254740993', true],
    ['9007199254740993', '9007199254740992', false],
    ['99', '100', true],
    ['100', '99', false],
    ['100', '100', false],
    [null, '100', false],
    ['100', null, false],
  ])('%j after %j has gone backwards: %s (case 61)', (index, earlier, expected) => {
    expect(isBackwards(index, earlier)).toBe(expected);
  });
});

describe('an empty list', () => {
  const fields = { 'x-consul-index': '10', 'x-consul-knownleader': 'true', 'x-consul-lastcontact': '0' };
  it.each([
    ['everything in order', fields, null],
    ['fields that are missing', {}, null],
    ['no known leader (case 70)', { ...fields, 'x-consul-knownleader': 'false' }, /no leader/],
    ['a leader not heard of for a minute (case 70)', { ...fields, 'x-consul-lastcontact': '60000' }, /60000 ms/],
    ['a leader heard of a moment ago', { ...fields, 'x-consul-lastcontact': '45' }, null],
    ['a last contact that is no number', { ...fields, 'x-consul-lastcontact': 'never' }, null],
  ])('with %s', (_what, headers, doubt) => {
    const told = serverDoubt(readConsulHead(headers));
    if (doubt === null) expect(told).toBeNull();
    else expect(told).toMatch(doubt);
  });

  it.each([
    ['nothing against it', fields, 0, '10', null],
    ['filtered by ACLs (case 72)', { ...fields, 'x-consul-results-filtered-by-acls': 'true' }, 0, null, /ACL/],
    ['records that cannot be used', fields, 2, null, /no record can be used/],
    ['an index below the earlier one (case 61)', fields, 0, '11', /from 11 to 10/],
  ])('with %s', (_what, headers, skipped, earlier, doubt) => {
    const told = contentDoubt(readConsulHead(headers), skipped, earlier);
    if (doubt === null) expect(told).toBeNull();
    else expect(told).toMatch(doubt);
  });
});

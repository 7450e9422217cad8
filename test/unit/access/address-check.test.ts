// Which client addresses a route lets in.
import { describe, expect, it } from 'vitest';
import { compileAddressCheck } from '../../../gateway/access/address-check.ts';

describe('the lists of a route', () => {
  it.each([
    [['10.0.0.0/8'], [], '10.1.2.3', true],
    [['10.0.0.0/8'], [], '192.0.2.1', false],
    [[], ['10.0.0.0/8'], '10.1.2.3', false],
    [[], ['10.0.0.0/8'], '192.0.2.1', true],
    [[], ['10.0.0.0/8'], '2001:db8::1', true],
    [['10.0.0.0/8'], ['10.1.0.0/16'], '10.1.2.3', false],
    [['10.0.0.0/8'], ['10.1.0.0/16'], '10.2.2.3', true],
    [['10.1.2.3/32'], ['10.0.0.0/8'], '10.1.2.3', false],
    [['10.0.0.0/8'], [], '::ffff:10.1.2.3', true],
    [[], ['10.0.0.0/8'], '', false],
    [['0.0.0.0/0'], [], '', false],
  ])('allow %j, deny %j: %s comes in: %s', (allow, deny, client, isWelcome) => {
    expect(compileAddressCheck({ allow, deny })?.(client)).toBe(isWelcome);
  });

  it('without networks check nothing', () => {
    expect(compileAddressCheck({ allow: [], deny: [] })).toBeNull();
  });
});

// Who an instance is: an ID of its own, and an address for others.
import { expect, it } from 'vitest';
import { firstExternal, uniqueInstanceId } from '../../../gateway/registration/register-identity.ts';

it('is an ID that is never given twice and always short enough', () => {
  const ids = Array.from({ length: 1000 }, () => uniqueInstanceId('web', 8080));
  expect(new Set(ids).size).toBe(1000);
  expect(ids[0]).toMatch(/^web-.+-8080-[0-9a-f]{8}$/);
  expect(uniqueInstanceId('x'.repeat(255), 65_535).length).toBeLessThanOrEqual(255);
});

it('is the first address that others can reach, IPv4 before IPv6', () => {
  const entry = (address: string, family: 'IPv4' | 'IPv6', internal = false) => ({
    ...{ address, family, internal },
    ...{ netmask: '', mac: '', cidr: null, scopeid: 0 },
  });
  const lo = [entry('127.0.0.1', 'IPv4', true), entry('::1', 'IPv6', true)];
  const eth0 = [entry('fe80::1', 'IPv6'), entry('2001:db8::5', 'IPv6')];
  const eth1 = [entry('169.254.7.7', 'IPv4'), entry('10.0.0.5', 'IPv4')];
  expect(firstExternal({ lo, eth0, eth1 })).toBe('10.0.0.5');
  expect(firstExternal({ lo, eth0 })).toBe('2001:db8::5');
  expect(firstExternal({ lo, gone: undefined })).toBeUndefined();
});

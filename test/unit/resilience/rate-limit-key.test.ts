import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitKeyOfIp } from '../../../gateway/resilience/rate-limit-key.ts';

describe('the rate-limit key of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:FFFF:FFFF:FFFF:FFFF', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1%eth0', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
    ['2001::2:3:4:5:6', '2001:0:0:2::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::192.0.2.1', '0:0:0:0::/64'],
    ['::ffff:0:192.0.2.1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['fe80::1%1', 'fe80:0:0:0::/64'],
    ['fe80::1', 'fe80:0:0:0::/64'],
  ])('of %s is %s', (ip, key) => {
    expect(limitKeyOfIp(ip)).toBe(key);
  });

  it.each(['', 'unknown', '::1::', '1:2:3', '[::1]', '::ffff:192.0.2.256', '192.0.2.1:80'])(
    'is the text itself where that is no address: %o',
    (text) => {
      expect(limitKeyOfIp(text)).toBe(text);
    },
  );

  it('is the same for all addresses of a /64 however they are written, and another for another /64', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const prefix = fc.tuple(group, group, group, group);
    fc.assert(
      fc.property(prefix, prefix, fc.tuple(prefix, prefix), fc.nat(10), ([...net], [...other], hosts, cut) => {
        const [host, neighbour] = hosts;
        net[0] |= 1;
        const key = limitKeyOfIp(written([...net, ...host], cut));
        expect(limitKeyOfIp(written([...net, ...neighbour], 0).toUpperCase())).toBe(key);
        expect(limitKeyOfIp(written([...other, ...host], cut)) === key).toBe(String(other) === String(net));
      }),
    );
  });
});

/** Writes an address with the zeros from group `cut` on, if there are any, as `::`. */
function written(groups: readonly number[], cut: number): string {
  let end = cut;
  while (groups[end] === 0) end++;
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  return end > cut ? `${text(groups.slice(0, cut))}::${text(groups.slice(end))}` : text(groups);
}

import { describe, expect, it } from 'vitest';
import { TraceIds } from '../../../gateway/tracing/trace-ids.ts';

describe('ids of traces and spans', () => {
  it('are hexadecimal digits, 32 and 16 of them, and never the same', () => {
    const ids = new TraceIds();
    const made = Array.from({ length: 2000 }, () => [ids.traceId(), ids.spanId()]).flat();
    expect(new Set(made).size).toBe(4000);
    expect(made.every((id, at) => (at % 2 === 0 ? /^[0-9a-f]{32}$/ : /^[0-9a-f]{16}$/).test(id))).toBe(true);
  });

  it('are never all zeros, whatever is drawn', () => {
    let draws = 0;
    const ids = new TraceIds((octets) => {
      octets.fill(draws++ === 0 ? 0 : 0xab);
      if (draws === 1) octets.writeUInt8(1, octets.length - 1);
    });
    expect(ids.spanId()).toBe('0000000000000001');
    expect(ids.traceId()).toBe('ab'.repeat(16));
  });

  it('are drawn many at a time', () => {
    let draws = 0;
    const ids = new TraceIds((octets) => {
      draws++;
      octets.fill(draws);
    });
    for (let at = 0; at < 512; at++) ids.spanId();
    expect(draws).toBe(1);
    ids.spanId();
    expect(draws).toBe(2);
  });
});

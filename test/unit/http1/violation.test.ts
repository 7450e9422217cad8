import { describe, expect, it } from 'vitest';
import { VIOLATIONS } from '../../../gateway/http1/violation.ts';

describe('a violation', () => {
  it('is answered 400, but for what is too large or unknown', () => {
    const others = Object.entries(VIOLATIONS).filter(([, status]) => status !== 400);
    expect(Object.fromEntries(others)).toEqual({
      'too many fields': 431,
      'request line too long': 414,
      'head too large': 431,
      'unknown transfer coding': 501,
    });
  });
});

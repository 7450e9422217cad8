// The rules of a registration: what is said to the registry next, and when.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RegistrationDialogue, retryDelayMs } from '../../../gateway/registration/register-dialogue.ts';

const CONSUL = { keepsUnhealthy: true, checksItself: false, beatMs: 5000 };
const TABLE = { keepsUnhealthy: false, checksItself: false, beatMs: 10_000 };

const start = (traits: typeof CONSUL) => new RegistrationDialogue(traits, () => 0.5);

describe('an instance that is well', () => {
  it('is registered and then beats', () => {
    const web = start(TABLE);
    expect(web.wasListed).toBe(false);
    expect(web.next(true)).toBe('register');
    expect(web.settle('listed', true)).toBe(10_000);
    expect(web.wasListed).toBe(true);
    expect(web.next(true)).toBe('beat');
    expect(web.settle('listed', true)).toBe(10_000);
  });

  it('is registered again at once when the registry has forgotten it', () => {
    const web = start(CONSUL);
    web.settle('listed', true);
    expect(web.next(true)).toBe('beat');
    expect(web.settle('absent', true)).toBe(0);
    expect(web.next(true)).toBe('register');
  });

  it('beats on after failures: the registry may know it still', () => {
    const web = start(CONSUL);
    web.settle('listed', true);
    expect([web.settle('failed', true), web.settle('failed', true)]).toEqual([187.5, 375]);
    expect(web.next(true)).toBe('beat');
    web.settle('listed', true);
    expect(web.settle('failed', true)).toBe(187.5);
  });

  it('is told to a registry that was down within two seconds of its return, however seldom it beats', () => {
    const web = start(CONSUL);
    web.settle('listed', true);
    const delays = Array.from({ length: 50 }, () => web.settle('failed', true));
    expect(Math.max(...delays)).toBe(1500);
    expect(web.settle('listed', true)).toBe(5000);
  });
});

describe('an instance that is not well', () => {
  it('is kept by Consul, which is told', () => {
    const web = start(CONSUL);
    expect(web.next(false)).toBe('register');
    expect(web.settle('listed', false)).toBe(1000);
    expect(web.next(false)).toBe('beat');
  });

  it('stays away when Consul has forgotten it, until it is well', () => {
    const web = start(CONSUL);
    web.settle('listed', false);
    expect(web.settle('absent', false)).toBe(1000);
    expect(web.next(false)).toBe('pause');
    expect(web.settle('absent', false)).toBe(1000);
    expect(web.next(true)).toBe('register');
  });

  it('is taken out of the table registry, and comes back when it is well', () => {
    const web = start(TABLE);
    expect(web.next(false)).toBe('pause');
    web.settle('absent', false);
    web.next(true);
    web.settle('listed', true);
    expect(web.next(false)).toBe('withdraw');
    expect(web.settle('failed', false)).toBe(187.5);
    expect(web.next(false)).toBe('withdraw');
    expect(web.settle('absent', false)).toBe(1000);
    expect(web.next(false)).toBe('pause');
    web.settle('absent', false);
    expect(web.next(true)).toBe('register');
  });
});

it('is not asked by the wrapper while Consul asks it', () => {
  const web = start({ ...CONSUL, checksItself: true });
  expect(web.needsProbe).toBe(true);
  web.settle('listed', true);
  expect(web.needsProbe).toBe(false);
  web.settle('absent', true);
  expect(web.needsProbe).toBe(true);
});

it('never beats for what is not listed, and never registers what is', () => {
  const event = fc.record({
    isHealthy: fc.boolean(),
    outcome: fc.constantFrom('listed' as const, 'absent' as const, 'failed' as const),
  });
  fc.assert(
    fc.property(fc.constantFrom(CONSUL, TABLE), fc.array(event), (traits, events) => {
      const web = start(traits);
      let isListed = false;
      for (const { isHealthy, outcome } of events) {
        const step = web.next(isHealthy);
        expect(['beat', 'withdraw'].includes(step)).toBe(isListed);
        if (!traits.keepsUnhealthy && !isHealthy) expect(['withdraw', 'pause']).toContain(step);
        expect(web.settle(outcome, isHealthy)).toBeLessThanOrEqual(traits.beatMs);
        if (outcome !== 'failed') isListed = outcome === 'listed';
      }
    }),
  );
});

it('tries again after 250 ms at most, then later and later, but no later than a heartbeat is due', () => {
  const bounds = [0, 1, 2, 5, 6, 50, 5000].map((attempt) => retryDelayMs(attempt, 10_000, () => 1));
  expect(bounds).toEqual([250, 500, 1000, 8000, 10_000, 10_000, 10_000]);
  expect(retryDelayMs(9, 10_000, () => 0)).toBe(5000);
  expect(retryDelayMs(9, 300, () => 1)).toBe(1000);
});

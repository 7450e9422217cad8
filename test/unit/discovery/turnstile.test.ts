// A few at a time, the urgent ones first.
import { expect, it } from 'vitest';
import { Turnstile } from '../../../gateway/discovery/turnstile.ts';

it('lets so many pass at a time, the urgent before all others, and goes on after a failure', async () => {
  const turnstile = new Turnstile(2);
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const go = (name: string, isUrgent = false) => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    const pass = async () => {
      begun.push(name);
      await end.promise;
    };
    return turnstile.through(pass, isUrgent).catch(() => `${name} failed`);
  };
  const passes = ['a', 'b', 'c', 'd'].map((name) => go(name));
  passes.push(go('urgent', true));
  expect(begun).toEqual(['a', 'b']);
  ends.get('a')?.reject(new Error('broken'));
  expect(await passes[0]).toBe('a failed');
  expect(begun).toEqual(['a', 'b', 'urgent']);
  for (const end of ends.values()) end.resolve();
  await Promise.all(passes);
  expect(begun).toEqual(['a', 'b', 'urgent', 'c', 'd']);
});

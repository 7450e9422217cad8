// What a signal means for the wrapper, depending on when it comes.
import { expect, it } from 'vitest';
import { meaningOf } from '../../../gateway/registration/register-signals.ts';

it.each(['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)('%s first leaves the registry, the second one hurries', (signal) => {
  expect(meaningOf(signal, 'serving', undefined)).toBe('leave');
  expect(meaningOf(signal, 'leaving', 5000)).toBe('hurry');
  expect(meaningOf(signal, 'leaving', undefined)).toBe('hurry');
  expect(meaningOf(signal, 'passed', 5000)).toBe('pass');
});

it.each(['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)('%s has an echo where a group and its members get it', (signal) => {
  expect(meaningOf(signal, 'leaving', 99)).toBe('ignore');
  expect(meaningOf(signal, 'leaving', 100)).toBe('hurry');
  expect(meaningOf(signal, 'passed', 0)).toBe('ignore');
});

it.each(['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const)('%s is the business of the command', (signal) => {
  for (const phase of ['serving', 'leaving', 'passed'] as const) expect(meaningOf(signal, phase, 0)).toBe('pass');
});

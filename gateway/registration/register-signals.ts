// Which signals the wrapper listens for, and what each one means at the moment it comes.

/** Signals that ask a process to end. SIGQUIT is how images of nginx and PHP are told to end gracefully. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const;

/** Signals that are the command's own business. */
const OTHER_SIGNALS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;

export const HEARD_SIGNALS = [...STOP_SIGNALS, ...OTHER_SIGNALS] as const;

export type HeardSignal = (typeof HEARD_SIGNALS)[number];

/** `leaving`: the deregistration and the drain time. `passed`: the command has its signal. */
export type DeparturePhase = 'serving' | 'leaving' | 'passed';

export type SignalMeaning = 'leave' | 'pass' | 'hurry' | 'ignore';

/** A terminal, npm or an init may send what is one signal both to a group and to its members. */
const SAME_SIGNAL_MS = 100;

/**
 * What a signal means: `leave` first deregisters; `pass` sends it on at once; `hurry` ends the drain time and sends it
 * on; `ignore` is for the echo of a stop signal that came `sinceSameMs` milliseconds ago (undefined: never).
 */
export function meaningOf(signal: HeardSignal, phase: DeparturePhase, sinceSameMs: number | undefined): SignalMeaning {
  const isStop = STOP_SIGNALS.some((name) => name === signal);
  if (!isStop) return 'pass';
  if (sinceSameMs !== undefined && sinceSameMs < SAME_SIGNAL_MS) return 'ignore';
  if (phase === 'serving') return 'leave';
  return phase === 'leaving' ? 'hurry' : 'pass';
}

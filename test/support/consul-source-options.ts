// The options of a Consul source as a test needs them.
import { systemClock } from '../../gateway/core/clock.ts';
import type { ConsulSourceOptions } from '../../gateway/discovery/consul.ts';

/** The defaults, with empty answers confirmed soon, and what `changes` says. */
export function consulSourceOptions(
  changes: Partial<ConsulSourceOptions> & Pick<ConsulSourceOptions, 'agents'>,
): ConsulSourceOptions {
  return {
    token: '',
    datacenter: '',
    waitMs: 60_000,
    consistency: 'default',
    accept: ['passing'],
    tls: { ca: '', cert: '', key: '' },
    confirmEmptyMs: 100,
    clock: systemClock,
    ...changes,
  };
}

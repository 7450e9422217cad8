// What `weir register` was told to do: checked and with its defaults.
import type { Address } from '../core/address.ts';
import type { InstanceKey } from './store.ts';

/** The registry that the instance is told to: an agent of Consul, or the table registry. */
export interface RegistryAddress {
  readonly kind: 'consul' | 'table';
  /** http or https; a path is put before the registry's own. */
  readonly url: URL;
}

/** Who finds out whether the instance is well, and how. */
export type HealthCheck =
  /** A path that answers 2xx. Consul's agent asks for it itself, for the table registry the wrapper does. */
  | { readonly kind: 'http'; readonly path: string; readonly intervalMs: number }
  /** A heartbeat of the wrapper while the port accepts connections. */
  | { readonly kind: 'heartbeat'; readonly intervalMs: number; readonly ttlMs: number };

export interface RegisterOptions {
  readonly name: string;
  readonly port: number;
  /** Undefined: found out when the registry is. */
  readonly address: string | undefined;
  /** Undefined: one that no other instance has. */
  readonly id: string | undefined;
  /** 0..65535. */
  readonly weight: number;
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  readonly check: HealthCheck;
  /** Consul forgets an instance that was critical for so long. */
  readonly deregisterAfterMs: number;
  /** Between the deregistration and the signal. */
  readonly drainMs: number;
  readonly registry: RegistryAddress;
  /** Where the wrapper itself asks whether the command answers; undefined: where it is registered. */
  readonly askAt: Address | undefined;
  readonly command: readonly [string, ...string[]];
}

/** The instance with all that was found out. */
export interface WrappedInstance extends InstanceKey {
  readonly address: string;
  readonly port: number;
  readonly weight: number;
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
}

/** What proves to a registry that this process may register; '' when nothing does. Never logged. */
export interface RegisterSecrets {
  readonly consulToken: string;
  readonly registrySecret: string;
}

/** The registry as messages name it: without path, for nothing in it can be secret then. */
export function registryTitle({ kind, url }: RegistryAddress): string {
  return `${kind === 'consul' ? 'Consul' : 'the registry'} at ${url.origin}`;
}

// The contract of a registry as the wrapper sees it: Consul's agent, or the table registry.

/** Whether the registry has the instance (now), or has none of that ID (any more). */
export type Listing = 'listed' | 'absent';

/** One registry and one instance. Every method rejects with a sentence when the registry did not do it. */
export interface Registrar {
  /** Whether the registry keeps an instance that is not well, marked as such; otherwise it must be taken out. */
  readonly keepsUnhealthy: boolean;
  /** Whether the registry asks the registered instance itself how it is. */
  readonly checksItself: boolean;
  /** Milliseconds between two beats. */
  readonly beatMs: number;
  /** Adds the instance, or replaces what the registry has under its ID. */
  register(isHealthy: boolean, signal: AbortSignal): Promise<void>;
  /** Says that the instance lives and is well, or what it lacks. */
  beat(fault: string | null, signal: AbortSignal): Promise<Listing>;
  /** Takes the instance out; no error when it was not in. */
  deregister(signal: AbortSignal): Promise<void>;
}

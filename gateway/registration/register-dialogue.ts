// The rules of a registration: what is said to the registry next, and when. No input or output of its own.
import type { Listing, Registrar } from './registrar.ts';

/** `pause` says nothing: the instance is not registered, and not well enough to be. */
export type RegisterStep = 'register' | 'beat' | 'withdraw' | 'pause';

/** What a step found out or brought about. */
export type StepOutcome = Listing | 'failed';

type RegistrarTraits = Pick<Registrar, 'keepsUnhealthy' | 'checksItself' | 'beatMs'>;

const FIRST_DELAY_MS = 250;
const MIN_MAX_DELAY_MS = 1000;
/** An agent that was down calls its instances critical, and the table registry has expired them, until they beat. */
const MAX_RETRY_MS = 2000;
/** How soon an instance that is not well is asked again. */
const RECHECK_MS = 1000;

/** Knows whether the instance is registered. Each `next` is followed by one `settle`. */
export class RegistrationDialogue {
  readonly #registrar: RegistrarTraits;
  readonly #random: () => number;
  #isListed = false;
  #wasListed = false;
  #failures = 0;

  /** `random` gives numbers in [0, 1). */
  constructor(registrar: RegistrarTraits, random: () => number) {
    this.#registrar = registrar;
    this.#random = random;
  }

  /** Whether the registry ever had the instance. */
  get wasListed(): boolean {
    return this.#wasListed;
  }

  /** Whether the next step depends on how the instance is. */
  get needsProbe(): boolean {
    return !this.#isListed || !this.#registrar.checksItself;
  }

  /**
   * The next step. What a registry does not have any more comes back only when it is well: Consul forgets on purpose
   * what was critical for too long.
   */
  next(isHealthy: boolean): RegisterStep {
    const { keepsUnhealthy } = this.#registrar;
    if (this.#isListed) return isHealthy || keepsUnhealthy ? 'beat' : 'withdraw';
    return isHealthy || (keepsUnhealthy && !this.#wasListed) ? 'register' : 'pause';
  }

  /** Takes the outcome of the step and gives the milliseconds until the next. */
  settle(outcome: StepOutcome, isHealthy: boolean): number {
    const { beatMs } = this.#registrar;
    if (outcome === 'failed') return retryDelayMs(this.#failures++, Math.min(beatMs, MAX_RETRY_MS), this.#random);
    this.#failures = 0;
    this.#isListed = outcome === 'listed';
    this.#wasListed ||= this.#isListed;
    if (!isHealthy) return Math.min(beatMs, RECHECK_MS);
    return this.#isListed ? beatMs : 0;
  }
}

/**
 * Milliseconds before the next try after failure number `attempt` in a row (0 = the first): the bound doubles from
 * 250 ms to `maxMs` (at least a second), and chance chooses from its upper half, so that many instances spread.
 */
export function retryDelayMs(attempt: number, maxMs: number, random: () => number): number {
  const bound = Math.min(Math.max(maxMs, MIN_MAX_DELAY_MS), FIRST_DELAY_MS * 2 ** Math.min(attempt, 16));
  return bound * (0.5 + random() / 2);
}

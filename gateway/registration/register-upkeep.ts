// Keeps one instance in its registry from the moment it answers until it leaves. Failures are told and tried again.
import type { Clock } from '../core/clock.ts';
import { type RegisterStep, RegistrationDialogue, type StepOutcome } from './register-dialogue.ts';
import { reasonOf } from './register-exchange.ts';
import { pause } from './register-pause.ts';
import type { ProbeResult } from './register-probe.ts';
import type { Listing, Registrar } from './registrar.ts';

export interface UpkeepOptions {
  readonly registrar: Registrar;
  /** The registry and the instance, for messages. */
  readonly registry: string;
  readonly instance: string;
  readonly probe: (signal: AbortSignal) => Promise<ProbeResult>;
  readonly clock: Clock;
  readonly say: (message: string) => void;
}

/** `never`: the registry is not known to have had it. `failed`: it may have it still. */
export type Departed = 'never' | 'gone' | 'failed';

/** A probe that fails is repeated after that time, before it counts. */
const SECOND_PROBE_MS = 500;
/** A deregistration takes no longer, of which a request that is still under way may take half. */
const LEAVE_LIMIT_MS = 2000;

export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #dialogue: RegistrationDialogue;
  readonly #stopped = new AbortController();
  readonly #cut = new AbortController();
  #inFlight: Promise<unknown> = Promise.resolve();
  #leaving: Promise<Departed> | undefined;
  /** Whether the registry may have the instance: it was told to, and not with success to forget it. */
  #mayBeListed = false;
  #fault: ProbeResult = null;
  #outage: string | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#dialogue = new RegistrationDialogue(options.registrar, options.clock.random);
  }

  /** Registers and beats until `leave` is called; never rejects. */
  async run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedAtMs = clock.nowMs();
      const fault = this.#dialogue.needsProbe ? await this.#examine(signal) : null;
      if (signal.aborted) return;
      const taken = this.#take(this.#dialogue.next(fault === null), fault);
      this.#inFlight = taken;
      const outcome = await taken;
      const delayMs = this.#dialogue.settle(outcome, fault === null);
      await pause(outcome === 'failed' ? delayMs : delayMs - (clock.nowMs() - startedAtMs), signal);
    }
  }

  /** Stops the beats and takes the instance out, within 2 s; after a failure it may be called again. Never rejects. */
  leave(): Promise<Departed> {
    this.#leaving ??= this.#leave().finally(() => {
      this.#leaving = undefined;
    });
    return this.#leaving;
  }

  async #leave(): Promise<Departed> {
    const { registrar, registry, say } = this.#options;
    this.#stopped.abort();
    const limit = AbortSignal.timeout(LEAVE_LIMIT_MS);
    // A registration that is under way must not arrive after the deregistration.
    const cut = setTimeout(() => this.#cut.abort(), LEAVE_LIMIT_MS / 2);
    await this.#inFlight;
    clearTimeout(cut);
    const { wasListed } = this.#dialogue;
    if (!this.#mayBeListed) return wasListed ? 'gone' : 'never';
    try {
      await registrar.deregister(limit);
      this.#mayBeListed = false;
      return 'gone';
    } catch (error) {
      if (!wasListed) return 'never';
      say(`${registry} did not deregister: ${limit.aborted ? 'no answer in time' : reasonOf(error)}`);
      return 'failed';
    }
  }

  /** Null when the instance is well. One failure may be chance; two are told. */
  async #examine(signal: AbortSignal): Promise<ProbeResult> {
    const { probe, instance, say } = this.#options;
    let fault = await probe(signal);
    if (fault !== null && this.#fault === null) {
      await pause(SECOND_PROBE_MS, signal);
      fault = await probe(signal);
    }
    if (signal.aborted) return fault;
    if (fault !== null && this.#fault === null) say(`${instance} is not well: ${fault}`);
    if (fault === null && this.#fault !== null) say(`${instance} is well again`);
    this.#fault = fault;
    return fault;
  }

  /** Does what the step says and tells what is new. Never rejects. */
  async #take(step: RegisterStep, fault: ProbeResult): Promise<StepOutcome> {
    const { registry, say } = this.#options;
    try {
      const outcome = await this.#perform(step, fault);
      if (step === 'pause') return outcome;
      this.#tellSuccess(step, outcome);
      this.#outage = null;
      return outcome;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== this.#outage && !this.#stopped.signal.aborted) say(`${registry}: ${reason}; trying again`);
      this.#outage = reason;
      return 'failed';
    }
  }

  async #perform(step: RegisterStep, fault: ProbeResult): Promise<Listing> {
    const { registrar } = this.#options;
    const { signal } = this.#cut;
    switch (step) {
      case 'register':
        this.#mayBeListed = true;
        await registrar.register(fault === null, signal);
        return 'listed';
      case 'beat':
        return registrar.beat(fault, signal);
      case 'withdraw':
        await registrar.deregister(signal);
        this.#mayBeListed = false;
        return 'absent';
      case 'pause':
        return 'absent';
    }
  }

  #tellSuccess(step: Exclude<RegisterStep, 'pause'>, outcome: Listing): void {
    const { registry, instance, say } = this.#options;
    if (step === 'register') {
      say(`registered ${instance} with ${registry}${this.#dialogue.wasListed ? ' again' : ''}`);
    } else if (step === 'withdraw') say(`took ${instance} out of ${registry} until it is well`);
    else if (outcome === 'absent') say(`${registry} does not know ${instance} any more`);
    else if (this.#outage !== null) say(`${registry} answers again`);
  }
}

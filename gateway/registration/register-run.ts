// Runs a command as a registered instance: the order of starting, registering, leaving and ending (SPEC section 9).
import { type Address, formatAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { createConsulRegistrar } from './consul-registrar.ts';
import { awaitAddress, awaitAnswer } from './register-arrival.ts';
import { type RunningCommand, startWrapped } from './register-command.ts';
import { uniqueInstanceId } from './register-identity.ts';
import { type RegisterOptions, type RegisterSecrets, registryTitle } from './register-options.ts';
import { pause } from './register-pause.ts';
import { type ProbeResult, probePath, probePort } from './register-probe.ts';
import { type DeparturePhase, HEARD_SIGNALS, type HeardSignal, meaningOf } from './register-signals.ts';
import { type Departed, Upkeep } from './register-upkeep.ts';
import type { Registrar } from './registrar.ts';
import { createRegistryRegistrar } from './registry-registrar.ts';

export interface RunOptions {
  readonly options: RegisterOptions;
  readonly secrets: RegisterSecrets;
  readonly clock: Clock;
  /** Takes a message for people; it must not throw. */
  readonly say: (message: string) => void;
}

const PROBE_LIMIT_MS = 5000;
const INSIST_PAUSE_MS = 500;

/**
 * Runs the command to its end and gives the exit code for this process, whose signals stay heard: none that comes after
 * the end puts a code of its own in place of the command's. No registry can make it reject.
 */
export async function runRegistered(run: RunOptions): Promise<number> {
  return new RegisteredRun(run).run();
}

class RegisteredRun {
  readonly #run: RunOptions;
  readonly #lastAtMs = new Map<HeardSignal, number>();
  readonly #leaving = new AbortController();
  readonly #drained = new AbortController();
  readonly #ended = new AbortController();
  #phase: DeparturePhase = 'serving';
  #command: RunningCommand | undefined;
  #upkeep: Upkeep | undefined;

  constructor(run: RunOptions) {
    this.#run = run;
  }

  async run(): Promise<number> {
    const { options, say } = this.#run;
    const onSignal = (name: HeardSignal) => this.#onSignal(name);
    // Before the command starts: no signal may come between.
    for (const name of HEARD_SIGNALS) process.on(name, onSignal);
    const command = startWrapped(options.command);
    this.#command = command;
    if (command.pid !== undefined) this.#arrive().catch((error: unknown) => say(`it cannot register: ${error}`));
    const { code, text } = await command.ended;
    say(text);
    this.#drained.abort();
    this.#ended.abort();
    if ((await this.#leave()) === 'gone' && this.#phase === 'serving') say('deregistered');
    return code;
  }

  /** Registers as soon as the command answers. */
  async #arrive(): Promise<void> {
    const { options, clock, say } = this.#run;
    const { signal } = this.#leaving;
    const host = options.address ?? (await awaitAddress(options.registry, { clock, say, signal }));
    if (host === undefined) return;
    const askAt = options.askAt ?? { host, port: options.port };
    if (!(await awaitAnswer(askAt, { clock, say, signal })) || signal.aborted) return;
    const id = options.id ?? uniqueInstanceId(options.name, options.port);
    this.#upkeep = new Upkeep({
      registrar: this.#registrar(id, host),
      registry: registryTitle(options.registry),
      instance: `${id} (${formatAddress(host, options.port)})`,
      probe: (ended) => this.#probe(askAt, ended),
      clock,
      say,
    });
    await this.#upkeep.run();
  }

  #registrar(instance: string, address: string): Registrar {
    const { options, secrets } = this.#run;
    const { name: service, port, weight, tags, meta, check, deregisterAfterMs, registry } = options;
    const wrapped = { service, instance, address, port, weight, tags, meta };
    const { url } = registry;
    return registry.kind === 'consul'
      ? createConsulRegistrar({ url, token: secrets.consulToken, instance: wrapped, check, deregisterAfterMs })
      : createRegistryRegistrar({
          url,
          secret: secrets.registrySecret,
          instance: wrapped,
          intervalMs: check.intervalMs,
        });
  }

  #probe(address: Address, signal: AbortSignal): Promise<ProbeResult> {
    const { check } = this.#run.options;
    const options = { limitMs: Math.min(check.intervalMs, PROBE_LIMIT_MS), signal };
    return check.kind === 'http' ? probePath(address, check.path, options) : probePort(address, options);
  }

  #onSignal(name: HeardSignal): void {
    const nowMs = this.#run.clock.nowMs();
    const lastAtMs = this.#lastAtMs.get(name);
    this.#lastAtMs.set(name, nowMs);
    switch (meaningOf(name, this.#phase, lastAtMs === undefined ? undefined : nowMs - lastAtMs)) {
      case 'leave':
        this.#phase = 'leaving';
        void this.#depart(name);
        break;
      case 'hurry':
        this.#phase = 'passed';
        this.#drained.abort();
        this.#pass(name);
        break;
      case 'pass':
        this.#pass(name);
        break;
      case 'ignore':
        break;
    }
  }

  /** Takes the instance out, gives those who know it time to notice, then passes the signal on. */
  async #depart(name: HeardSignal): Promise<void> {
    const { options, say } = this.#run;
    const departed = await this.#leave();
    if (departed !== 'never' && !this.#drained.signal.aborted) {
      const seconds = options.drainMs / 1000;
      say(`${name}: ${departed === 'gone' ? 'deregistered' : 'still registered'}, the command gets it in ${seconds}s`);
      if (departed === 'failed') void this.#insist();
      await pause(options.drainMs, this.#drained.signal);
    }
    if (this.#drained.signal.aborted) return;
    this.#phase = 'passed';
    this.#pass(name);
  }

  /** Goes on deregistering while the command runs. */
  async #insist(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await pause(INSIST_PAUSE_MS, signal);
      if (!signal.aborted && (await this.#leave()) !== 'failed') return this.#run.say('deregistered');
    }
  }

  #pass(name: HeardSignal): void {
    const fault = this.#command?.signal(name) ?? null;
    // A command that has become another user's, for example.
    if (fault !== null) this.#run.say(`cannot pass ${name} on: ${fault}`);
  }

  async #leave(): Promise<Departed> {
    this.#leaving.abort();
    return (await this.#upkeep?.leave()) ?? 'never';
  }
}

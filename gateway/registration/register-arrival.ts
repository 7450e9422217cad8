// What must be known before an instance can be registered: its address, and that the command answers there.
import { type Address, formatAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { retryDelayMs } from './register-dialogue.ts';
import { reasonOf } from './register-exchange.ts';
import { detectAddress } from './register-identity.ts';
import { type RegistryAddress, registryTitle } from './register-options.ts';
import { pause } from './register-pause.ts';
import { probePort } from './register-probe.ts';

export interface ArrivalOptions {
  readonly clock: Clock;
  readonly say: (message: string) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

const MAX_DELAY_MS = 10_000;
const PROBE_PAUSE_MS = 100;
const PROBE_LIMIT_MS = 2000;
/** How long nobody wonders that the command does not answer yet. */
const QUIET_MS = 5000;

/** Waits until a route to the registry shows the address of this machine; undefined when `signal` ended it. */
export async function awaitAddress(
  registry: RegistryAddress,
  { clock, say, signal }: ArrivalOptions,
): Promise<string | undefined> {
  let outage: string | null = null;
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return await detectAddress(registry);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== outage && !signal.aborted) say(`${registryTitle(registry)}: ${reason}; trying again`);
      outage = reason;
    }
    await pause(retryDelayMs(attempt, MAX_DELAY_MS, clock.random), signal);
  }
  return undefined;
}

/** Waits, however long it takes, until the port accepts connections; false when `signal` ended it. */
export async function awaitAnswer(address: Address, { clock, say, signal }: ArrivalOptions): Promise<boolean> {
  const wonderAtMs = clock.nowMs() + QUIET_MS;
  let hasWondered = false;
  while (!signal.aborted) {
    const fault = await probePort(address, { limitMs: PROBE_LIMIT_MS, signal });
    if (fault === null) return true;
    if (!hasWondered && !signal.aborted && clock.nowMs() >= wonderAtMs) {
      hasWondered = true;
      say(`still waiting for the command to answer: ${fault}${await hintFor(address, signal)}`);
    }
    await pause(PROBE_PAUSE_MS, signal);
  }
  return false;
}

/** The usual mistake: a command that listens for its own machine only. */
async function hintFor({ host, port }: Address, signal: AbortSignal): Promise<string> {
  if (host === '127.0.0.1') return '';
  const fault = await probePort({ host: '127.0.0.1', port }, { limitMs: PROBE_LIMIT_MS, signal });
  if (fault !== null) return '';
  const local = formatAddress('127.0.0.1', port);
  return `; but ${local} answers: let it listen on ${host}, or register it with --address 127.0.0.1`;
}

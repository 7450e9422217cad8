// What all watches together know of the agents: which of them fails everybody, and when the first works again.
import type { ConsulClient } from './consul-client.ts';
import { serverDoubt } from './consul-head.ts';
import type { ConsulListQuestion, ConsulQuestion } from './consul-question.ts';
import { pause } from './pause.ts';

export interface FirstAgentOptions {
  readonly client: ConsulClient;
  readonly agentCount: number;
  /** Milliseconds between two tries. */
  readonly retryMs: number;
  readonly onReturn: () => void;
}

/** Failures in a row, of whatever questions, after which an agent is passed over. */
const DOWN_AFTER = 3;

/**
 * One question tries the first agent for all, beside the ones that are answered elsewhere: a first agent that is still
 * dead, or that swallows questions, delays nobody. It is a question that is asked anyhow, so that an agent that
 * refuses it (ACL, no leader) does not count as working.
 */
export class FirstAgent {
  readonly #options: FirstAgentOptions;
  readonly #stopped = new AbortController();
  readonly #failures: number[] = [];
  #isTrying = false;

  constructor(options: FirstAgentOptions) {
    this.#options = options;
  }

  /**
   * Somebody asked agent number `agent`, counted on without end. If that was not the first, it is tried again soon.
   */
  heardFrom(agent: number, question: ConsulQuestion | ConsulListQuestion, isGood: boolean): void {
    const position = agent % this.#options.agentCount;
    this.#failures[position] = isGood ? 0 : (this.#failures[position] ?? 0) + 1;
    if (position === 0 || this.#isTrying) return;
    this.#isTrying = true;
    void this.#try(question);
  }

  /**
   * Whom to ask instead of agent number `agent`: the next one that does not fail everybody, else itself. Where few
   * questions pass at a time, an agent that swallows them must not take the time of each.
   */
  steer(agent: number): number {
    const { agentCount } = this.#options;
    const candidates = Array.from({ length: agentCount }, (_, at) => agent + at);
    return candidates.find((each) => (this.#failures[each % agentCount] ?? 0) < DOWN_AFTER) ?? agent;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #try(question: ConsulQuestion | ConsulListQuestion): Promise<void> {
    const { client, retryMs, onReturn } = this.#options;
    const { signal } = this.#stopped;
    for (;;) {
      await pause(retryMs, signal);
      if (signal.aborted) return;
      const reply = await client.ask({ ...question, index: null }, 0, signal);
      if (!('error' in reply) && serverDoubt(reply.head) === null) break;
    }
    this.#failures[0] = 0;
    this.#isTrying = false;
    if (!signal.aborted) onReturn();
  }
}

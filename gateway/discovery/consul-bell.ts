// Tells the services that hold no connection when to ask: a blocking query on each list that moves with any change.
import type { Clock } from '../core/clock.ts';
import { nextDelayMs } from './backoff.ts';
import type { ConsulClient, ConsulDocument, ConsulError } from './consul-client.ts';
import { isBackwards, serverDoubt } from './consul-head.ts';
import { CONSUL_LISTS, type ConsulList, compareLists, type ListChange, type ListEntries } from './consul-lists.ts';
import type { Consistency, ConsulListQuestion } from './consul-question.ts';
import type { FirstAgent } from './first-agent.ts';
import { createPace } from './pace.ts';
import { pause } from './pause.ts';

export interface ConsulBellOptions {
  readonly client: ConsulClient;
  readonly firstAgent: FirstAgent;
  readonly waitMs: number;
  readonly consistency: Consistency;
  readonly clock: Clock;
  /** Called for each change. */
  readonly onChange: (change: ListChange) => void;
  /** Called when the lists are heard that were not: what happened before is unknown. */
  readonly onHeard: () => void;
  /** Called when a list is not heard any more. */
  readonly onUnheard: () => void;
}

/** The price of a query in milliseconds: four a second and list in the long run, after a few on credit. */
const PRICE_MS = 250;
const CREDIT_MS = 2000;

/**
 * SPEC section 5 has Weir ask for the health of services and nothing else. The lists are the one exception, made when
 * there are more services than connections: without them each of the others would have to be asked several times a
 * second to hear of a change as soon as a blocking query does, which costs the agent more by orders of magnitude.
 * Nothing in them ever changes a pool: they only say when to ask for the health of a service.
 */
export class ConsulBell {
  readonly #options: ConsulBellOptions;
  readonly #stopped = new AbortController();
  readonly #heard = new Set<ConsulList>();
  readonly #returns = new Set<() => void>();

  constructor(options: ConsulBellOptions) {
    this.#options = options;
  }

  /** Whether a change cannot go unheard at present. */
  get isListening(): boolean {
    return this.#heard.size === CONSUL_LISTS.length;
  }

  start(): void {
    for (const list of CONSUL_LISTS) void this.#listen(list);
  }

  /** Asks the first agent from now on. */
  preferFirst(): void {
    for (const toFirst of this.#returns) toFirst();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #listen(list: ConsulList): Promise<void> {
    const { client, firstAgent, clock, waitMs, consistency, onChange, onHeard, onUnheard } = this.#options;
    const { signal } = this.#stopped;
    const pace = createPace(CREDIT_MS);
    let agent = 0;
    let failures = 0;
    let known: { readonly index: string; readonly entries: ListEntries } | null = null;
    this.#returns.add(() => {
      agent = 0;
    });
    while (!signal.aborted) {
      await pause(pace.waitMs(clock.nowMs()), signal);
      pace.pay(PRICE_MS, clock.nowMs());
      const { path, filter } = list;
      const question: ConsulListQuestion = { path, filter, index: known?.index ?? null, waitMs, consistency };
      const asked = agent;
      const answer = readAnswer(list, await client.ask(question, asked, signal));
      if (signal.aborted) break;
      firstAgent.heardFrom(asked, question, answer !== undefined);
      if (answer === undefined) {
        if (this.#heard.delete(list)) onUnheard();
        known = null;
        if (agent === asked) agent += 1;
        await pause(nextDelayMs(failures++, clock.random), signal);
        continue;
      }
      failures = 0;
      if (known === null || isBackwards(answer.index, known.index)) {
        // What happened before this answer was not heard.
        this.#heard.add(list);
        if (this.isListening) onHeard();
      } else {
        const change = compareLists(list, [known.entries, answer.entries], answer.index !== known.index);
        if (change.isEverywhere || change.services.size > 0) onChange(change);
      }
      known = answer;
    }
  }
}

function readAnswer(
  list: ConsulList,
  document: ConsulDocument | ConsulError,
): { readonly index: string; readonly entries: ListEntries } | undefined {
  if ('error' in document || document.head.index === null || serverDoubt(document.head) !== null) return undefined;
  const entries = list.read(document.text);
  return entries === undefined ? undefined : { index: document.head.index, entries };
}

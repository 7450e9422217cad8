// One watch of a service in Consul: carries out what the dialogue says, until it is stopped.
import { hash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { Alarm, type AlarmReason } from './alarm.ts';
import type { ConsulClient, ConsulDocument, ConsulError } from './consul-client.ts';
import { decodeHealthService } from './consul-decode.ts';
import type { ConsulDialogue, ConsulReply, ConsulStep } from './consul-dialogue.ts';
import { serverDoubt } from './consul-head.ts';
import type { FirstAgent } from './first-agent.ts';
import { createPace } from './pace.ts';
import { pause } from './pause.ts';
import type { Slots } from './slots.ts';
import type { Watch, WatchOptions } from './source.ts';
import type { Turnstile } from './turnstile.ts';

export interface ConsulWatchOptions extends Pick<WatchOptions, 'service' | 'onEvent'> {
  readonly client: ConsulClient;
  readonly slots: Slots;
  readonly turnstile: Turnstile;
  readonly firstAgent: FirstAgent;
  readonly dialogue: ConsulDialogue;
  readonly clock: Clock;
  /** The service got no connection to hold. */
  readonly onOverflow: () => void;
  /** Whether `ring` is called for every change. */
  readonly isRungForAll: () => boolean;
  /** While `ring` is called, an answer without a change is reported after half to all of these milliseconds. */
  readonly quietMs: number;
  /** The service has changed. */
  readonly onNews: () => void;
}

/**
 * The price of a query in milliseconds, which limits the queries of one service: four a second while Consul wakes it
 * without news, twenty while each brings some, after a few on credit.
 */
const NO_NEWS_PRICE_MS = 250;
const NEWS_PRICE_MS = 50;
const CREDIT_MS = 1250;

/**
 * A tag that no instance has: the answer is the index alone, that of the service. It moves with whatever moves the
 * health of the service, its checks, its nodes and theirs, and with nothing else, for Consul's own blocking queries go
 * by it. Consul looks at tags before it gathers nodes and checks; a filter is applied to what has been gathered, which
 * costs the agent four times as much. (An instance with this very tag only makes the answer longer.)
 */
const TAG_OF_NONE = 'weir/index-alone';

export class ConsulWatch implements Watch {
  readonly service: string;
  readonly #options: ConsulWatchOptions;
  readonly #stopped = new AbortController();
  readonly #alarm = new Alarm();
  readonly #pace = createPace(CREDIT_MS);
  /** Of the last body and of what it meant; '' after anything that is not a plain answer. */
  #bodyDigest = '';
  /** Of the last plain answer; null where it must not be relied on. */
  #index: string | null = null;
  /** Until then an answer without a change need not be whole, nor reported. */
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #newsDigest = '';

  constructor(options: ConsulWatchOptions) {
    this.#options = options;
    this.service = options.service;
  }

  async run(): Promise<void> {
    const { slots, dialogue, onOverflow } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const mayHold = slots.take(this);
      if (!mayHold) onOverflow();
      const step = dialogue.next(mayHold);
      const woken = await this.#rest(step, mayHold);
      await pause(this.#pace.waitMs(this.#options.clock.nowMs()), signal);
      // A question that was to confirm emptiness is an ordinary one when it comes too early for that.
      const asked: ConsulStep = woken === null || step.mode !== 'confirming' ? step : { ...step, mode: 'polling' };
      await this.#exchange(asked, mayHold, woken);
    }
  }

  /** The service has changed, or may have: asks soon, unless a blocking query is going to tell anyhow. */
  ring(reason: AlarmReason): void {
    this.#alarm.ring(reason);
  }

  /** The state of the cluster may be another one, with indexes of its own: the next question is for the whole answer. */
  distrustIndex(): void {
    this.#index = null;
  }

  /** The agent is gone, or was: what it says next may be incomplete, and counts even if it is what was heard before. */
  onOutage(): void {
    this.#bodyDigest = '';
    this.#index = null;
    this.#options.dialogue.onOutage();
  }

  preferFirst(): void {
    this.#options.dialogue.goTo(0);
  }

  stop(): void {
    this.#stopped.abort();
    this.#options.slots.release(this);
  }

  async #rest(step: ConsulStep, mayHold: boolean): Promise<AlarmReason | null> {
    const { signal } = this.#stopped;
    const mayBeWoken = step.isResting || (step.mode === 'confirming' && !mayHold);
    if (!mayBeWoken) {
      await pause(step.pauseMs, signal);
      return null;
    }
    const isQuiet = step.isResting && step.mode === 'polling' && this.#options.isRungForAll();
    const quietMs = Math.min(step.waitMs, this.#someQuietMs());
    return this.#alarm.rest(isQuiet ? Math.max(step.pauseMs, quietMs) : step.pauseMs, signal);
  }

  /** Apart from `run`, whose variables outlive a query that blocks: the body of the one before would stay with it. */
  async #exchange(step: ConsulStep, mayHold: boolean, woken: AlarmReason | null): Promise<void> {
    const { client, dialogue, turnstile, firstAgent } = this.#options;
    const { signal } = this.#stopped;
    if (mayHold && step.index !== null) return this.#hear(await client.ask(step, step.agent, signal), step, woken);
    await turnstile.through(async () => {
      // Whatever rang before the question is asked is part of its answer.
      this.#alarm.clear();
      const agent = firstAgent.steer(step.agent);
      if (agent !== step.agent) dialogue.goTo(agent);
      if (woken === 'perhaps' && (await this.#isUnchanged(step, agent))) return;
      this.#hear(await client.ask(step, agent, signal), { ...step, agent }, woken);
    }, woken === 'news');
  }

  /**
   * Whether the service is as it was heard last. Beyond the services that hold a connection, a change that the lists
   * cannot name (an instance that comes, goes or is registered otherwise) is answered by asking all the others so: the
   * cost is a question each that does not grow with the instances. What else Consul offers is worse. No list tells which
   * service it was: `catalog/services` has names and tags, `health/state/any` only what has checks and nothing of
   * ports, weights and meta, at some MB for each new output of any check; `catalog/node/<name>` is a question for each
   * node, with everything on it; what `internal/ui` says is not documented, and `cached` may be the answer before.
   */
  async #isUnchanged(step: ConsulStep, agent: number): Promise<boolean> {
    const { client, clock } = this.#options;
    const index = this.#index;
    if (index === null || clock.nowMs() >= this.#quietUntilMs) return false;
    const document = await client.ask({ ...step, tag: TAG_OF_NONE }, agent, this.#stopped.signal);
    if ('error' in document || serverDoubt(document.head) !== null) return false;
    if (document.head.index !== index || this.#index !== index) return false;
    this.#pace.pay(NO_NEWS_PRICE_MS, clock.nowMs());
    return true;
  }

  #hear(document: ConsulDocument | ConsulError, step: ConsulStep, woken: AlarmReason | null): void {
    if (this.#stopped.signal.aborted) return;
    const { client, clock, dialogue, firstAgent, onNews } = this.#options;
    const digest = 'error' in document ? '' : hash('sha1', document.text);
    firstAgent.heardFrom(step.agent, step, digest !== '');
    const isSame = !('error' in document) && digest === this.#bodyDigest;
    if (isSame && woken !== null && clock.nowMs() < this.#quietUntilMs) {
      // One of the many that were asked because one has changed: nothing to decode, to fold or to tell.
      this.#index = document.head.index;
      this.#pace.pay(NO_NEWS_PRICE_MS, clock.nowMs());
      return;
    }
    const reply = readReply(document, (error) => client.refuse(step, step.agent, error));
    const isNews = this.#isNews(reply);
    this.#pace.pay(isNews ? NEWS_PRICE_MS : NO_NEWS_PRICE_MS, clock.nowMs());
    if (isNews) onNews();
    const events = 'error' in reply ? dialogue.onFailure(reply.error, step.agent) : dialogue.onReply(reply, step);
    const isPlain = events.some((event) => event.kind === 'answer' && event.doubt === null);
    this.#bodyDigest = isPlain ? digest : '';
    this.#index = isPlain && !('error' in document) ? document.head.index : null;
    this.#quietUntilMs = clock.nowMs() + this.#someQuietMs();
    for (const event of events) if (!this.#stopped.signal.aborted) this.#options.onEvent(event);
  }

  /** Services that were heard together must not be asked for all that they are together again. */
  #someQuietMs(): number {
    const { clock, quietMs } = this.#options;
    return quietMs * (0.5 + clock.random() / 2);
  }

  #isNews(reply: ConsulReply | ConsulError): boolean {
    if ('error' in reply) return false;
    // Consul lists instances in any order.
    const lines = reply.instances.map((instance) => JSON.stringify(instance)).sort();
    const digest = hash('sha1', lines.join('\n'));
    const isNews = digest !== this.#newsDigest;
    this.#newsDigest = digest;
    return isNews;
  }
}

function readReply(
  document: ConsulDocument | ConsulError,
  refuse: (error: string) => ConsulError,
): ConsulReply | ConsulError {
  if ('error' in document) return document;
  const decoded = decodeHealthService(document.text);
  return decoded.kind === 'undecodable' ? refuse(decoded.error) : { ...decoded, head: document.head };
}

// What to ask Consul next about one service, and what each answer means: the rules of blocking queries, without I/O.
import type { Clock } from '../core/clock.ts';
import type { Instance } from '../core/instance.ts';
import { AfterOutage } from './after-outage.ts';
import { AwaitedInstances } from './awaited-instances.ts';
import { nextDelayMs } from './backoff.ts';
import { type ConsulHead, contentDoubt, isBackwards, serverDoubt } from './consul-head.ts';
import type { Consistency, ConsulQuestion } from './consul-question.ts';
import { boundSentences, type DecodedRecords } from './record.ts';
import type { SourceAnswer, SourceEvent } from './source.ts';

/** The next thing to do: let `pauseMs` pass, then ask agent number `agent` (counted on without end). */
export interface ConsulStep extends ConsulQuestion {
  readonly pauseMs: number;
  readonly agent: number;
  /** `confirming`: an empty answer settles that there is none; `polling`: the service must not hold a connection. */
  readonly mode: 'blocking' | 'polling' | 'confirming';
  /** Whether the pause is a rest between two polls, which news may end and quiet times may stretch. */
  readonly isResting: boolean;
}

export interface ConsulReply extends DecodedRecords {
  readonly head: ConsulHead;
}

export interface DialogueOptions {
  readonly service: string;
  readonly agentCount: number;
  readonly resumeIndex: string | null;
  /** Whether the service has a pool already: the agent may have been away since that was heard. */
  readonly hasPool: boolean;
  readonly waitMs: number;
  readonly consistency: Consistency;
  readonly confirmEmptyMs: number;
  readonly clock: Clock;
}

/** Milliseconds between the queries of a service that polls, when nothing else tells that it changed. */
const POLL_INTERVAL_MS = 2000;

/** Milliseconds until the next query where an answer had no index to block on. */
const NO_INDEX_INTERVAL_MS = 1000;

/** Leaderless answers in a row after which the pause before the next question no longer grows. */
const MAX_LEADERLESS_STEPS = 3;

/** The state of one watch. */
export class ConsulDialogue {
  readonly #options: DialogueOptions;
  #agent = 0;
  #pauseMs = 0;
  #isResting = false;
  #index: string | null;
  /** The index of the last answer with instances: an empty answer below it comes from a lost or restored state. */
  #filledIndex: string | null;
  #failures = 0;
  #leaderless = 0;
  /** Then the agent may not know yet who is well, nor who is there. */
  readonly #afterOutage: AfterOutage;
  readonly #awaited = new AwaitedInstances();
  /** Whether the last answer was not taken as it stands because of that. */
  #isHolding = false;
  #isEmptyBelieved = false;
  /** An empty answer held back, and when to confirm it. */
  #unconfirmed: { readonly answer: SourceAnswer; readonly dueMs: number } | null = null;

  constructor(options: DialogueOptions) {
    this.#options = options;
    this.#index = options.resumeIndex;
    this.#filledIndex = options.resumeIndex;
    this.#afterOutage = new AfterOutage(options.hasPool);
  }

  /** The next step; `canBlock` is false while the service must not hold a connection. */
  next(canBlock: boolean): ConsulStep {
    const { service, waitMs, consistency, clock } = this.#options;
    const index = canBlock ? this.#index : null;
    const isResting = !canBlock && this.#isResting;
    // What is not taken as it stands is asked for again when the time after the outage is over.
    const heldMs = this.#isHolding ? Math.min(waitMs, Math.ceil(this.#afterOutage.leftMs(clock.nowMs()))) : waitMs;
    const step = { service, pauseMs: this.#pauseMs, agent: this.#agent, index, waitMs: heldMs, consistency, isResting };
    if (this.#unconfirmed === null) return { ...step, mode: canBlock ? 'blocking' : 'polling' };

    const leftMs = Math.max(0, Math.ceil(this.#unconfirmed.dueMs - clock.nowMs()));
    // To listen until the confirmation is due brings an instance that comes back without delay.
    if (index !== null && leftMs > 0) return { ...step, waitMs: leftMs, mode: 'blocking' };
    return { ...step, pauseMs: leftMs, index: null, consistency: 'consistent', mode: 'confirming' };
  }

  /** The next query goes to that agent, with the index, for it is of the same cluster. */
  goTo(agent: number): void {
    this.#agent = agent;
  }

  /** The agent is or was away, as others saw: what it says next may be incomplete. */
  onOutage(): void {
    this.#afterOutage.failed();
  }

  /** The query to agent number `asked` failed: the next goes to the next agent, after a pause, and anew (no index). */
  onFailure(error: string, asked = this.#agent): SourceEvent[] {
    const { agentCount, clock } = this.#options;
    const events: SourceEvent[] = [];
    if (this.#unconfirmed !== null) {
      events.push({ ...this.#unconfirmed.answer, doubt: `empty, but not confirmed: ${error}` });
    }
    this.#unconfirmed = null;
    this.#index = null;
    if (this.#agent === asked) this.#agent += 1;
    this.#isResting = false;
    // The first round through all agents is quick; then each round waits longer.
    this.#pauseMs = nextDelayMs(Math.floor(this.#failures / agentCount), clock.random);
    this.#failures += 1;
    this.#afterOutage.failed();
    return [...events, { kind: 'failure', error }];
  }

  /** The reply to a step; gives what is to be reported, which is nothing while an empty answer is unconfirmed. */
  onReply(reply: ConsulReply, step: ConsulStep): SourceEvent[] {
    const { head, instances, skipped, notes } = reply;
    this.#comeBack();
    this.#failures = 0;
    this.#index = isBackwards(head.index, step.index) ? null : head.index;
    this.#pauseMs = head.index === null ? NO_INDEX_INTERVAL_MS : 0;
    this.#isResting = step.mode === 'polling';
    if (this.#isResting) this.#pauseMs = POLL_INTERVAL_MS;
    const answer: SourceAnswer = { kind: 'answer', instances, skipped, notes, index: head.index, doubt: null };
    return instances.length > 0 ? [this.#filled(answer, head)] : this.#empty(answer, head, step);
  }

  #comeBack(): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#afterOutage.answered(nowMs)) this.#awaited.expect();
    if (!this.#afterOutage.isReturning(nowMs)) this.#awaited.giveUp();
  }

  #filled(answer: SourceAnswer, head: ConsulHead): SourceAnswer {
    const { consistency, clock } = this.#options;
    this.#unconfirmed = null;
    this.#isEmptyBelieved = false;
    this.#leaderless = 0;
    if (consistency !== 'stale' && isBackwards(head.index, this.#filledIndex)) this.#awaited.onStateLost();
    this.#filledIndex = head.index;
    const { instances, notes } = this.#awaited.complete(answer.instances);
    const has = (wanted: Instance['status']) => instances.some(({ status }) => status === wanted);
    const isDoubtful = notes.length > 0 || (has('critical') && !has('passing'));
    this.#isHolding = isDoubtful && this.#afterOutage.isReturning(clock.nowMs());
    const hidden = head.isFiltered ? ['ACLs hide some of the instances'] : [];
    return {
      ...answer,
      instances,
      notes: boundSentences([...answer.notes, ...hidden, ...notes]),
      ...(this.#isHolding && { doubt: 'nobody is well, but the agent may have come back a moment ago' }),
    };
  }

  #empty(answer: SourceAnswer, head: ConsulHead, step: ConsulStep): SourceEvent[] {
    const { consistency, confirmEmptyMs, clock } = this.#options;
    const ofServer = serverDoubt(head);
    if (ofServer !== null) this.#askElsewhere(step.agent);
    else {
      this.#leaderless = 0;
      this.#awaited.onStateLost();
    }
    // Under `stale` the answers come from servers whose indexes differ, so only what was sent can be compared.
    const earlierIndex = consistency === 'stale' ? step.index : this.#filledIndex;
    const ofReturn = this.#returnDoubt();
    const doubt = ofServer ?? contentDoubt(head, answer.skipped.length, earlierIndex) ?? ofReturn;
    if (doubt !== null || this.#isEmptyBelieved || step.mode === 'confirming') {
      this.#unconfirmed = null;
      this.#isEmptyBelieved ||= doubt === null;
      return [{ ...answer, doubt }];
    }
    this.#unconfirmed = { answer, dueMs: this.#unconfirmed?.dueMs ?? clock.nowMs() + confirmEmptyMs };
    return [];
  }

  /** Why the agent may not have what was registered; null when it has had the time to. */
  #returnDoubt(): string | null {
    this.#isHolding = !this.#isEmptyBelieved && this.#afterOutage.isReturning(this.#options.clock.nowMs());
    return this.#isHolding
      ? 'empty, but the agent may have come back a moment ago: its instances may register again'
      : null;
  }

  /** A server without leader does answer, so the next one is asked soon: after two seconds at most. */
  #askElsewhere(asked: number): void {
    if (this.#agent === asked) this.#agent += 1;
    this.#index = null;
    this.#isResting = false;
    this.#pauseMs = nextDelayMs(Math.min(this.#leaderless, MAX_LEADERLESS_STEPS), this.#options.clock.random);
    this.#leaderless += 1;
  }
}

// A dialogue with Consul about the service `web` that a test leads by hand.
import type { Clock } from '../../gateway/core/clock.ts';
import type { Instance } from '../../gateway/core/instance.ts';
import { ConsulDialogue, type ConsulStep, type DialogueOptions } from '../../gateway/discovery/consul-dialogue.ts';
import type { ConsulHead } from '../../gateway/discovery/consul-head.ts';
import type { SourceEvent } from '../../gateway/discovery/source.ts';

export interface StartedDialogue {
  readonly dialogue: ConsulDialogue;
  /** The reply to the next step; index 1 of a leader that knows all, unless the head says otherwise. */
  readonly hear: (
    instances: readonly Instance[],
    head: Partial<ConsulHead>,
    skipped?: readonly string[],
  ) => readonly SourceEvent[];
  readonly next: () => ConsulStep;
}

/** A passing one. */
export const dialogueInstance: Instance = {
  id: 'n1/web-1',
  host: '10.0.0.5',
  port: 8080,
  weight: 1,
  status: 'passing',
  tags: [],
  meta: {},
};

/** Starts it with one agent, as the first to ask. */
export function startDialogue(clock: Clock, changes: Partial<DialogueOptions> = {}): StartedDialogue {
  const dialogue = new ConsulDialogue({
    service: 'web',
    agentCount: 1,
    resumeIndex: null,
    hasPool: false,
    waitMs: 60_000,
    consistency: 'default',
    confirmEmptyMs: 2000,
    clock,
    ...changes,
  });
  return {
    dialogue,
    hear(instances, head, skipped = []) {
      const full = { index: '1', hasLeader: true, isFiltered: false, lastContactMs: 0, ...head };
      return dialogue.onReply({ kind: 'records', instances, skipped, notes: [], head: full }, dialogue.next(true));
    },
    next: () => dialogue.next(true),
  };
}

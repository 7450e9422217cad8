// One check for all who ask the same question at the same time, and a bound on how many questions are open.
import type { Decided, PendingCheck } from '../access/gatekeeper.ts';

/** Begins a check that ends later with `decide`; returns how it is called off, or null when it cannot begin now. */
export type StartCheck = (decide: Decided) => (() => void) | null;

interface Joint {
  readonly waiting: Set<{ readonly decided: Decided }>;
  callOff: () => void;
}

export class JointChecks {
  readonly #open = new Map<string, Joint>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many questions are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Waits for the check of that key, which is begun if nobody has asked it yet; null when it cannot begin now. */
  join(key: string, decided: Decided, start: StartCheck): PendingCheck | null {
    const joint = this.#open.get(key) ?? this.#begin(key, start);
    if (joint === null) return null;
    const waiter = { decided };
    joint.waiting.add(waiter);
    return {
      cancel: () => {
        if (!joint.waiting.delete(waiter) || joint.waiting.size > 0) return;
        joint.callOff();
        this.#close(key, joint);
      },
    };
  }

  #begin(key: string, start: StartCheck): Joint | null {
    if (this.#open.size >= this.#most) return null;
    const joint: Joint = { waiting: new Set(), callOff: () => undefined };
    const callOff = start((verdict) => {
      this.#close(key, joint);
      const { waiting } = joint;
      for (const waiter of waiting) if (waiting.delete(waiter)) waiter.decided(verdict);
    });
    if (callOff === null) return null;
    joint.callOff = callOff;
    this.#open.set(key, joint);
    return joint;
  }

  /** Another one may have been begun under the same key since. */
  #close(key: string, joint: Joint): void {
    if (this.#open.get(key) === joint) this.#open.delete(key);
  }
}

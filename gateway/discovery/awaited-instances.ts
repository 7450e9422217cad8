// Who was well before an outage of the source, and is taken as such until the source can know better.
import type { Instance } from '../core/instance.ts';
import { quote } from '../core/quote.ts';

/** A list with those in it that are taken as they were, and a sentence for each of these. */
export interface CompletedList {
  readonly instances: readonly Instance[];
  readonly notes: readonly string[];
}

/**
 * What an agent of Consul tells after its return is true only bit by bit. It calls all checks of its instances critical
 * until each has passed again, and that reaches the catalog late: the first list may still be the one from before the
 * outage. An agent or a cluster without its data has none of its instances until each has registered again.
 */
export class AwaitedInstances {
  #reported: readonly Instance[] = [];
  /** Those that were well before the outage, by ID. */
  readonly #before = new Map<string, Instance>();
  /** Those of them that were listed as well since. */
  readonly #wellAgain = new Set<string>();
  #isStateLost = false;

  /** There was an outage: those that are well are waited for. */
  expect(): void {
    this.giveUp();
    for (const instance of this.#reported) if (isWell(instance)) this.#before.set(instance.id, instance);
  }

  /** The source has lost what was registered: whoever is not listed may be about to register again. */
  onStateLost(): void {
    this.#isStateLost = true;
    this.#wellAgain.clear();
  }

  /** The source has had the time to know all. */
  giveUp(): void {
    this.#before.clear();
    this.#wellAgain.clear();
    this.#isStateLost = false;
  }

  /** The list, in which whom the source cannot know yet is as it was. */
  complete(listed: readonly Instance[]): CompletedList {
    this.#reported = listed;
    if (this.#before.size === 0) return { instances: listed, notes: [] };
    const awaited = this.#awaitedOf(listed);
    const isListed = new Set(listed.map(({ id }) => id));
    const absent = [...awaited.values()].filter(({ id }) => !isListed.has(id));
    this.#reported = [...listed.map((instance) => awaited.get(instance.id) ?? instance), ...absent];
    const notes = [...awaited.keys()].map((id) =>
      isListed.has(id)
        ? `instance ${quote(id)}: critical since the outage, may be well`
        : `instance ${quote(id)}: not listed since the outage, may be on its way back`,
    );
    return { instances: this.#reported, notes };
  }

  #awaitedOf(listed: readonly Instance[]): Map<string, Instance> {
    const nowById = new Map(listed.map((instance) => [instance.id, instance]));
    // One that was well again may be dead now. That most are so at once is the agent, and not they.
    const isMostLost = listed.filter(isWell).length * 2 < this.#before.size;
    const awaited = new Map<string, Instance>();
    for (const [id, before] of [...this.#before]) {
      const now = nowById.get(id);
      const mayBeWell = isMostLost || !this.#wellAgain.has(id);
      if (now !== undefined && isWell(now)) {
        this.#before.set(id, now);
        this.#wellAgain.add(id);
      } else if (now === undefined && this.#isStateLost && !this.#wellAgain.has(id)) awaited.set(id, before);
      else if (now?.status === 'critical' && isSameAddress(now, before)) {
        if (mayBeWell) awaited.set(id, { ...now, status: before.status });
      } else this.#before.delete(id);
    }
    return awaited;
  }
}

function isWell({ status }: Instance): boolean {
  return status === 'passing' || status === 'warning';
}

function isSameAddress(a: Instance, b: Instance): boolean {
  return a.host === b.host && a.port === b.port;
}

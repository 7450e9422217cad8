// Keeps what a discovery source reports, so that a test can wait for it.
import type {
  DiscoverySource,
  SourceAnswer,
  SourceEvent,
  SourceFailure,
  Watch,
} from '../../gateway/discovery/source.ts';
import { waitFor } from './wait-for.ts';

export interface RecordedWatch extends Watch {
  readonly events: readonly SourceEvent[];
  readonly answers: readonly SourceAnswer[];
  readonly failures: readonly SourceFailure[];
  /** `host:port weight status` of the last answer's instances, sorted; undefined before the first. */
  last(): string[] | undefined;
  /** Waits for an answer that satisfies the condition; earlier answers count. */
  answer(what: string, is: (answer: SourceAnswer) => boolean, limitMs?: number): Promise<SourceAnswer>;
  /** Waits until the last answer's ports are these (in any order). */
  ports(expected: readonly number[], limitMs?: number): Promise<void>;
}

const LIMIT_MS = 5000;

/** Watches `service` at the source and records all events. */
export function recordWatch(
  source: DiscoverySource,
  service: string,
  resumeIndex: string | null = null,
): RecordedWatch {
  const events: SourceEvent[] = [];
  const watch = source.watch({ service, resumeIndex, onEvent: (event) => events.push(event) });
  const answers = () => events.filter((event) => event.kind === 'answer');
  return {
    stop: () => watch.stop(),
    events,
    get answers() {
      return answers();
    },
    get failures() {
      return events.filter((event) => event.kind === 'failure');
    },
    last: () =>
      answers()
        .at(-1)
        ?.instances.map(({ host, port, weight, status }) => `${host}:${port} ${weight} ${status}`)
        .sort(),
    answer: (what, is, limitMs = LIMIT_MS) => waitFor(() => answers().find(is), { limitMs, what }),
    async ports(expected, limitMs = LIMIT_MS) {
      const wanted = expected.toSorted((a, b) => a - b).join();
      const seen = () =>
        answers()
          .at(-1)
          ?.instances.map(({ port }) => port)
          .sort((a, b) => a - b)
          .join();
      await waitFor(() => seen() === wanted, { limitMs, what: `the ports ${wanted || '(none)'}` });
    },
  };
}

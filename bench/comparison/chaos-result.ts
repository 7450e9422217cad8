// What the chaos run leaves: the steps of each subject, and what happened when.

/** The step in which nothing is left that could answer: told apart in the score, as only a fallback helps then. */
export const ALL_DOWN = 'all are down, and back';

export interface ChaosStep {
  readonly subject: string;
  readonly step: string;
  readonly requests: number;
  readonly failed: number;
  readonly degraded: number;
  /** Attempts beyond the first of each request; null where nothing counts them. */
  readonly extraAttempts: number | null;
  readonly slowestMs: number;
}

/** What happened in a slice of time. */
export interface Moment {
  /** Since the subject's first step. */
  readonly atMs: number;
  readonly requests: number;
  readonly failed: number;
  readonly degraded: number;
}

/** When a step of a subject began and ended, since its first step. */
export interface ChaosMark {
  readonly subject: string;
  readonly step: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ChaosResult {
  /** The steps that all subjects went through. */
  readonly steps: readonly ChaosStep[];
  /** The steps of Weir's own drills. */
  readonly drills: readonly ChaosStep[];
  /** How the drills ended: `passed`, or what they said. */
  readonly verdicts: Readonly<Record<string, string>>;
  readonly timelines: readonly { readonly subject: string; readonly moments: readonly Moment[] }[];
  readonly marks: readonly ChaosMark[];
  /** Subjects that could not run, with the reason. */
  readonly absent: Readonly<Record<string, string>>;
}

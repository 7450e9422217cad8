// How every endpoint of the service stands towards a request: candidate or not, and what its policy compares.
import type { RouteConfig } from '../../config/route-schema.ts';
import type { GroupLabels } from '../../pool/group.ts';
import type { EndpointView } from '../../pool/view.ts';
import type { ExplainedEndpoint } from './explanation.ts';
import type { UsableEndpoint } from './rehearsal.ts';
import { lackOf } from './words.ts';

type Policy = RouteConfig['balance']['policy'];

/** Those that the policy chooses from. */
export interface Candidates {
  readonly policy: Policy;
  readonly list: readonly UsableEndpoint[];
  readonly totalWeight: number;
}

export interface CandidatesOptions {
  readonly policy: Policy;
  readonly views: readonly EndpointView[];
  /** As balancers saw them. */
  readonly usable: readonly UsableEndpoint[];
  /** What the branch or the subset that serves wants of them; null for nothing. */
  readonly labels: GroupLabels | null;
}

export function candidatesOf({ policy, views, usable, labels }: CandidatesOptions): Candidates {
  const carriers = new Set(views.filter((view) => labels === null || lackOf(view, labels) === null).map(keyOf));
  const list = usable.filter(({ key, isEjected }) => !isEjected && carriers.has(key));
  return { policy, list, totalWeight: list.reduce((sum, { weight }) => sum + weight, 0) };
}

/** Every endpoint of the service; `picked` is the one that the request goes to, null when none is certain. */
export function explainEndpoints(
  candidates: Candidates,
  { views, labels }: Pick<CandidatesOptions, 'views' | 'labels'>,
  picked: string | null,
): ExplainedEndpoint[] {
  const byKey = new Map(candidates.list.map((each) => [each.key, each]));
  return views.map((view) => {
    const candidate = byKey.get(view.endpoint);
    const { endpoint, weight, effectiveWeight, state, inFlight, latencyMs, until } = view;
    return {
      endpoint,
      weight,
      effectiveWeight,
      state,
      inFlight,
      latencyMs,
      isCandidate: candidate !== undefined,
      isPicked: endpoint === picked,
      why: whyNot(view, labels),
      until,
      sharePercent: candidate === undefined ? null : rounded((100 * candidate.weight) / candidates.totalWeight, 1),
      cost: candidate === undefined ? null : costOf(candidates, candidate),
    };
  });
}

/** Who would win against every other where two draws are compared; with `random` the likeliest. */
export function bestPlaced(candidates: Candidates): UsableEndpoint | undefined {
  const [first, ...others] = candidates.list;
  if (first === undefined) return undefined;
  return others.reduce((best, other) => {
    const difference = compare(candidates, other, best);
    return difference < 0 || (difference === 0 && other.weight > best.weight) ? other : best;
  }, first);
}

/** Negative when `one` is better placed, as its policy compares (least-request.ts, peak-ewma.ts). */
function compare(candidates: Candidates, one: UsableEndpoint, other: UsableEndpoint): number {
  switch (candidates.policy) {
    case 'least_request':
      return one.inFlight / one.weight - other.inFlight / other.weight;
    case 'peak_ewma': {
      const [work, otherWork] = [workOf(candidates, one), workOf(candidates, other)];
      // One without a latency counts as fast as the one it is compared with.
      if (one.latencyMs === 0 || other.latencyMs === 0) return work - otherWork;
      return one.latencyMs * work - other.latencyMs * otherWork;
    }
    default:
      return 0;
  }
}

function workOf({ list, totalWeight }: Candidates, { inFlight, weight }: UsableEndpoint): number {
  return (inFlight * (totalWeight / list.length)) / weight + 1;
}

function costOf(candidates: Candidates, endpoint: UsableEndpoint): number | null {
  const { inFlight, weight, latencyMs } = endpoint;
  if (candidates.policy === 'least_request') return rounded(inFlight / weight, 3);
  if (candidates.policy !== 'peak_ewma' || latencyMs === 0) return null;
  return rounded(latencyMs * workOf(candidates, endpoint), 3);
}

function whyNot(view: EndpointView, labels: GroupLabels | null): string | null {
  const lack = labels === null ? null : lackOf(view, labels);
  if (lack === null) return view.why;
  return view.why === null ? lack : `${lack}; ${view.why}`;
}

function keyOf({ endpoint }: EndpointView): string {
  return endpoint;
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

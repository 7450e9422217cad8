// Who gets the request, and why it is this one: the rehearsal in words.
import type { RouteConfig } from '../../config/route-schema.ts';
import { quote } from '../../core/quote.ts';
import type { RequestDescription } from '../exchange.ts';
import { requestKey } from '../routes/request-key.ts';
import { asWritten } from './asked-request.ts';
import { bestPlaced, type Candidates } from './explain-endpoints.ts';
import type { ExplainedKey, ExplainedPick, ExplainedSplit } from './explanation.ts';
import type { Rehearsed, RehearsedAttempt } from './rehearsal.ts';
import { counted, partWords, ruleValue, ruleWords } from './words.ts';

type Request = Pick<RequestDescription, 'target' | 'header'>;

/** The key of consistent hashing; null with another policy. */
export function explainKey({ balance }: RouteConfig, request: Request, client: string): ExplainedKey | null {
  if (balance.hash === null) return null;
  const value = requestKey(balance.hash, request, client);
  return { from: partWords(balance.hash), value: value === undefined ? null : asWritten(value) };
}

/** The branch of the split that the request is for; null without a split. */
export function explainSplit({ split }: RouteConfig, rehearsed: Rehearsed, request: Request): ExplainedSplit | null {
  const { branch, branchLabels, isBranchByTurn, attempts } = rehearsed;
  const chosen = split[branch];
  if (chosen === undefined) return null;
  const total = split.reduce((sum, { weight }) => sum + weight, 0);
  const { when } = chosen;
  const isByRule = !isBranchByTurn && when !== null;
  const value = isByRule ? ruleValue(when, (name) => request.header(name)) : undefined;
  return {
    branch: branchLabels[branch] ?? '',
    by: isByRule ? 'rule' : 'weight',
    why: isByRule ? `${when.on} ${when.name} is ${quote(asWritten(value ?? ''))}` : `${chosen.weight} of ${total}`,
    instead: attempts[0]?.insteadBranch ?? null,
    branches: split.map(({ weight, when: rule }, at) => {
      return { branch: branchLabels[at] ?? '', weight, when: ruleWords(rule) };
    }),
  };
}

export interface PickOptions {
  readonly config: RouteConfig;
  readonly rehearsed: Rehearsed;
  readonly candidates: Candidates;
  readonly key: ExplainedKey | null;
}

/** Who is asked first, and who then. */
export function explainPick(options: PickOptions): ExplainedPick {
  const { rehearsed, candidates } = options;
  const { attempts, ended } = rehearsed;
  const [first] = attempts;
  if (first === undefined) {
    return { endpoint: null, isCertain: true, how: nobody(rehearsed), next: [], isNobodyLeft: true };
  }
  const how = howFirst(options, first);
  if (!first.isCertain && candidates.list.length > 1) {
    const endpoint = bestPlaced(candidates)?.key ?? first.endpoint;
    return { endpoint, isCertain: false, how, next: [], isNobodyLeft: false };
  }
  const chance = attempts.findIndex((each, at) => at > 0 && !each.isCertain);
  const next = attempts.slice(1, chance === -1 ? attempts.length : chance).map(({ endpoint }) => endpoint);
  const isNobodyLeft = chance === -1 && ended !== null;
  return { endpoint: first.endpoint, isCertain: true, how, next, isNobodyLeft };
}

function nobody({ ended, usable, views }: Rehearsed): string {
  switch (ended) {
    case 'breaker':
      return 'the breaker lets nothing through at present';
    case 'ejected':
      return 'all that might be chosen are ejected, and the fallback answers for that';
    case 'empty':
      if (views.length === 0) return 'the service has no endpoint';
      return usable.length === 0
        ? 'no endpoint may take traffic'
        : 'no endpoint that may take traffic carries what the route wants of it';
    case 'tried':
    case null:
      return 'there is nobody to ask';
  }
}

function howFirst(options: PickOptions, first: RehearsedAttempt): string {
  const { candidates } = options;
  if (first.isProbe) return 'its ejection is over: the next request that comes tries it, whatever the policy says';
  if (first.isDesperate)
    return 'all that might be chosen are ejected, and no fallback answers for that: they take turns';
  if (candidates.list.length === 1) return 'it is the only one that can be chosen';
  return howByPolicy(options, first);
}

function howByPolicy({ config, rehearsed, candidates, key }: PickOptions, first: RehearsedAttempt): string {
  const { list, totalWeight } = candidates;
  const { endpoint: picked } = first;
  const chosen = list.find((each) => each.key === picked);
  const share = `weight ${shown(chosen?.weight ?? 0)} of ${shown(totalWeight)}`;
  switch (config.balance.policy) {
    case 'weighted_round_robin':
      return `weighted round robin, the same for all workers: the next turn is its own (${share})`;
    case 'consistent_hash':
      if (key === null || key.value === null) {
        return `the request has no ${key?.from ?? 'key'}, so weighted round robin decides: the next turn is its own (${share})`;
      }
      return rehearsed.owner === undefined || rehearsed.owner === picked
        ? `the key ${quote(key.value)} belongs to it`
        : `the key ${quote(key.value)} belongs to ${rehearsed.owner}, which has more than its share of the load: it is the next best`;
    case 'least_request':
      return first.isCertain ? howLeast(candidates, picked) : chanceOf('fewer requests in flight for its weight', list);
    case 'peak_ewma':
      return chanceOf('less latency x (requests in flight for its weight + 1)', list);
    case 'random':
      return `chance by weight decides: the one named is the likeliest of ${list.length}`;
  }
}

function chanceOf(better: string, { length }: Candidates['list']): string {
  return `of two drawn by weight the one with ${better}: the one named is best placed of ${length}`;
}

function howLeast({ list }: Candidates, picked: string): string {
  const loads = list.map(({ inFlight, weight }) => inFlight / weight);
  const ties = loads.filter((load) => load === Math.min(...loads)).length;
  const chosen = list.find(({ key }) => key === picked);
  const load = `${counted(chosen?.inFlight ?? 0, 'request')} in flight at weight ${shown(chosen?.weight ?? 0)}`;
  return ties === 1
    ? `it has the fewest requests in flight for its weight (${load})`
    : `${ties} tie with the fewest requests in flight for their weight, and the next turn is its own (${load})`;
}

function shown(weight: number): string {
  return String(Math.round(weight * 10) / 10);
}

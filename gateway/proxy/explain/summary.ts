// What becomes of a request, in one sentence.
import type { DegradedReason } from '../../shared/degraded-words.ts';
import type { Explanation } from './explanation.ts';

/** Why the fallback answers, as the end of a sentence. */
export const REASON_WORDS: Readonly<Record<DegradedReason, string>> = {
  empty: 'there is no endpoint to choose',
  unreachable: 'no endpoint can be asked',
  breaker: 'the breaker is open',
  'status-5xx': 'the service answers with errors',
  maintenance: 'the service is in maintenance',
};

export function summaryOf({
  request,
  outcome,
  route,
  service,
  endpoints,
  access,
}: Pick<Explanation, 'request' | 'outcome' | 'route' | 'service' | 'endpoints' | 'access'>): string {
  const asked = `${request.method} ${request.host}${request.target}`;
  const by = `by route ${route?.name}`;
  const needs = access === null || access.needs === null ? '' : ` with ${access.needs}`;
  const what = outcome.kind === 'answer' ? asked : asked + needs;
  switch (outcome.kind) {
    case 'endpoint': {
      if (outcome.isCertain) return `${what} goes to ${outcome.endpoint} of ${service?.name} ${by}`;
      const { length } = endpoints.filter(({ isCandidate }) => isCandidate);
      return `${what} goes to one of ${length} endpoints of ${service?.name} ${by}; ${outcome.endpoint} is best placed`;
    }
    case 'fallback':
      return `${what} is answered by the fallback of route ${route?.name}: ${REASON_WORDS[outcome.reason]}`;
    case 'answer':
      return `${what} is answered ${outcome.status} by Weir itself: ${outcome.why}`;
    case 'unknown':
      return `${what} goes to ${service?.name} ${by}; ${outcome.why}`;
  }
}

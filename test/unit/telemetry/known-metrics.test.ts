// What the tests of dashboard and alerts stand on: that an expression about what is not there is found out.
import { describe, expect, it } from 'vitest';
import { faultsOf, knownSeries } from '../../support/known-metrics.ts';

const known = knownSeries();

describe('an expression', () => {
  it.each([
    ['sum by (route) (rate(weir_requests_total{status="5xx"}[5m])) > 0.1', []],
    ['histogram_quantile(0.9, sum by (le) (rate(weir_request_duration_seconds_bucket[5m])))', []],
    ['up{job="weir"} == 0', []],
    ['weir_request_total > 0', ['there is no metric weir_request_total']],
    ['weir_request_duration_seconds > 0', ['there is no metric weir_request_duration_seconds']],
    ['weir_endpoints{kind="ejected"}', ['weir_endpoints has no label kind']],
    ['weir_endpoints{state=~"ejected|open"}', ['weir_endpoints state is never open']],
    ['weir_requests_total{status="500"}', ['weir_requests_total status is never 500']],
    ['weir_degraded{service="web"}', ['weir_degraded service has no fixed values']],
    ['sum by (endpoint) (weir_degraded)', ['no metric of sum by (endpoint) (weir_degraded) has the label endpoint']],
    ['1 > 0', ['no metric in 1 > 0']],
  ])('%s', (expr, faults) => {
    expect(faultsOf(expr, known)).toEqual(faults);
  });
});

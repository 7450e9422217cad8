// The field lines that every answer to a request of a route gets, whoever gives it.
import type { RequestDescription } from '../exchange.ts';
import type { Route } from './route.ts';

/** Those of CORS, and the security headers that an answer with these `lines` ('' for Weir's own) lacks. */
export function routeLines(
  { gatekeeper, securityHeaders }: Pick<Route, 'gatekeeper' | 'securityHeaders'>,
  request: Pick<RequestDescription, 'header'>,
  lines: string,
): string {
  const cors = gatekeeper?.cors ?? null;
  const ofCors = cors === null ? '' : cors.linesFor(request.header('origin'));
  return securityHeaders === null ? ofCors : ofCors + securityHeaders.missingFrom(lines);
}

// Preflights of browsers (the Fetch standard) belong to the route of the request that they ask for.
import type { RouteQuery } from '../../routing/route-table.ts';

/**
 * The request that a preflight asks for, as far as a route is chosen by it; null when it is no preflight. A route that takes
 * PUT alone would never see the OPTIONS in front of it.
 */
export function announcedRequest(request: RouteQuery): RouteQuery | null {
  if (request.method !== 'OPTIONS' || request.header('origin') === undefined) return null;
  const method = request.header('access-control-request-method');
  if (method === undefined) return null;
  return { method, host: request.host, header: (name) => request.header(name) };
}

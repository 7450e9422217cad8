// What the route does to the answer on its way to the client: compression and security headers.
import type { RouteConfig } from '../../config/route-schema.ts';
import { chooseCoding } from '../answers/accept-encoding.ts';
import { securityPreset } from '../answers/security-headers.ts';
import type { ReadRequest } from './asked-request.ts';
import type { ExplainedAnswer } from './explanation.ts';

/** Null for a route that does nothing to answers. */
export function explainAnswer({ compress, securityHeaders }: RouteConfig, read: ReadRequest): ExplainedAnswer | null {
  if (compress === null && securityHeaders === null) return null;
  const preset = securityHeaders === null ? null : securityPreset(securityHeaders);
  return {
    compression:
      compress === null ? null : { offered: compress, coding: chooseCoding(read.header('accept-encoding'), compress) },
    adds: preset?.headers.map(({ name }) => name.toLowerCase()) ?? [],
    removes: preset?.drop ?? [],
  };
}

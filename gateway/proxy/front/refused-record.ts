// The access log's record of a request that was refused for its head.
import type { AccessRecord } from '../../core/access-record.ts';
import { ERROR_ANSWERS, type ErrorSituation } from '../../core/errors.ts';
import type { ClientPeer } from '../client-address.ts';

export interface RefusedHead {
  readonly peer: ClientPeer;
  readonly situation: ErrorSituation;
  readonly requestId: string;
  /** That of the listener. */
  readonly scheme: AccessRecord['scheme'];
}

/** Nothing in the head can be relied on. */
export function refusedRecord({ peer, situation, requestId, scheme }: RefusedHead): AccessRecord {
  const nothing = {
    user: null,
    version: '',
    host: '',
    path: '',
    route: null,
    service: null,
    branch: null,
    degraded: null,
    userAgent: null,
  };
  const { status } = ERROR_ANSWERS[situation];
  // Plain HTTP may come to a listener that speaks TLS.
  const spoken = situation === 'plain_http' ? 'http' : scheme;
  const outcome = { status, bytes: 0, durationMs: 0, attempts: [], error: situation };
  return { requestId, client: peer.address, method: '', scheme: spoken, ...nothing, ...outcome };
}

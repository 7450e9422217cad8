// The status codes of gRPC beside those of HTTP: what Weir's own answers say, and what an endpoint's status means.
import { ERROR_ANSWERS, type ErrorSituation } from './errors.ts';

/** The codes that Weir tells apart (gRPC, "Status codes and their use in gRPC"). */
export const GRPC_STATUS = {
  ok: 0,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** By HTTP status: as gRPC's http-grpc-status-mapping has them, finer where an answer of Weir's own says more. */
const BY_HTTP_STATUS: ReadonlyMap<number, number> = new Map([
  [400, GRPC_STATUS.internal],
  [401, GRPC_STATUS.unauthenticated],
  [403, GRPC_STATUS.permissionDenied],
  [404, GRPC_STATUS.unimplemented],
  [405, GRPC_STATUS.unimplemented],
  [408, GRPC_STATUS.deadlineExceeded],
  [413, GRPC_STATUS.resourceExhausted],
  [414, GRPC_STATUS.resourceExhausted],
  [429, GRPC_STATUS.resourceExhausted],
  [431, GRPC_STATUS.resourceExhausted],
  [501, GRPC_STATUS.unimplemented],
]);

/** The HTTP status of each gRPC status from 0 on, as Envoy's outlier detection has them. */
const TO_HTTP_STATUS: readonly number[] = [
  ...[200, 499, 500, 400, 504, 404, 409, 403, 429],
  ...[400, 409, 400, 501, 500, 503, 500, 401],
];

/** Whether a Content-Type is one of gRPC, gRPC-Web included. */
export function isGrpcType(contentType: string): boolean {
  if (!contentType.startsWith('application/grpc')) return false;
  return contentType.length === 16 || '+;-'.includes(contentType.charAt(16));
}

/** What a gRPC client is told in a situation. */
export function grpcStatusOf(situation: ErrorSituation): number {
  // The time that the client or the route gave is over; that a connection took too long is no matter of its deadline.
  if (situation === 'http_response_timeout') return GRPC_STATUS.deadlineExceeded;
  return BY_HTTP_STATUS.get(ERROR_ANSWERS[situation].status) ?? GRPC_STATUS.unavailable;
}

/** The HTTP status that a `grpc-status` field means; undefined where it is none. */
export function httpStatusOf(grpcStatus: string): number | undefined {
  return /^(?:\d|1\d)$/.test(grpcStatus) ? TO_HTTP_STATUS[Number(grpcStatus)] : undefined;
}

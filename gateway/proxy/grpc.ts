// gRPC on a route to HTTP/2 endpoints: the client's deadline, and what a `grpc-status` says of the endpoint.
import { GRPC_STATUS, httpStatusOf } from '../core/grpc-status.ts';
import { parseGrpcTimeout } from '../core/grpc-timeout.ts';
import type { FieldTable } from '../http1/field-table.ts';
import { trimBlanks } from '../http1/octets.ts';
import type { RequestDescription } from './exchange.ts';
import type { Http2Wishes } from './upstream/upstream.ts';

/** The time that the client gives for the call, in ms; null where it gives none that can be read. */
export function grpcTimeoutOf(request: Pick<RequestDescription, 'header'>): number | null {
  const field = request.header('grpc-timeout');
  return field === undefined ? null : (parseGrpcTimeout(field) ?? null);
}

/** What a request says to its endpoint beside its lines. */
export function http2Wishes(
  request: Pick<RequestDescription, 'header'>,
  grpcTimeoutMs: Http2Wishes['grpcTimeoutMs'],
): Http2Wishes {
  const te = request.header('te')?.toLowerCase();
  const takesTrailers = te?.split(',').some((each) => trimBlanks(each) === 'trailers') ?? false;
  return { takesTrailers, grpcTimeoutMs };
}

/**
 * The HTTP status that an answer means: that of the `grpc-status` among `fields` (of a head without content or of the
 * trailers), else `status`. A deadline that was the client's own (`hasDeadline`) says nothing against the endpoint.
 */
export function meantStatus(status: number, fields: FieldTable, hasDeadline: boolean): number {
  const grpcStatus = status === 200 ? fields.get('grpc-status') : undefined;
  if (grpcStatus === undefined) return status;
  if (hasDeadline && grpcStatus === String(GRPC_STATUS.deadlineExceeded)) return status;
  return httpStatusOf(grpcStatus) ?? status;
}

// What gRPC statuses and those of HTTP say of one another.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_ANSWERS, type ErrorSituation } from '../../../gateway/core/errors.ts';
import { grpcStatusOf, httpStatusOf, isGrpcType } from '../../../gateway/core/grpc-status.ts';

function isSituation(name: string): name is ErrorSituation {
  return Object.hasOwn(ERROR_ANSWERS, name);
}

describe('the gRPC status of a situation', () => {
  it.each([
    ['no_route', 12],
    ['empty_pool', 14],
    ['breaker_open', 14],
    ['rate_limited', 8],
    ['concurrency_limit', 14],
    ['connection_refused', 14],
    ['connection_timeout', 14],
    ['http_response_timeout', 4],
    ['content_too_large', 8],
    ['unauthorized', 16],
    ['forbidden', 7],
    ['bad_request', 13],
  ] as const)('%s is %i', (situation, status) => {
    expect(grpcStatusOf(situation)).toBe(status);
  });

  it('is an error, whatever the situation', () => {
    for (const situation of Object.keys(ERROR_ANSWERS).filter(isSituation)) {
      expect(grpcStatusOf(situation)).toBeGreaterThan(0);
      expect(grpcStatusOf(situation)).toBeLessThanOrEqual(16);
    }
  });

  it('has a detail that needs no percent-encoding in grpc-message', () => {
    for (const { detail } of Object.values(ERROR_ANSWERS)) expect(detail).toMatch(/^[\x20-\x24\x26-\x7e]+$/);
  });
});

describe('the HTTP status of a gRPC status', () => {
  it.each([
    ['0', 200],
    ['1', 499],
    ['2', 500],
    ['4', 504],
    ['5', 404],
    ['8', 429],
    ['12', 501],
    ['13', 500],
    ['14', 503],
    ['15', 500],
    ['16', 401],
  ])('%s is %i', (grpcStatus, status) => {
    expect(httpStatusOf(grpcStatus)).toBe(status);
  });

  it('is unknown for everything else', () => {
    for (const text of ['', '17', '99', '-1', '014', '1.0', ' 14', '14 ', 'UNAVAILABLE']) {
      expect(httpStatusOf(text)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        const status = httpStatusOf(text);
        return status === undefined || /^\d{1,2}$/.test(text);
      }),
    );
  });
});

describe('a content type', () => {
  it.each([
    ['application/grpc', true],
    ['application/grpc+proto', true],
    ['application/grpc;charset=utf-8', true],
    ['application/grpc-web+proto', true],
    ['application/grpcx', false],
    ['application/json', false],
    ['', false],
  ])('%s is of gRPC: %s', (type, isGrpc) => {
    expect(isGrpcType(type)).toBe(isGrpc);
  });
});

import { SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import type { AccessRecord } from '../../../gateway/core/access-record.ts';
import type { Outcome } from '../../../gateway/core/failure.ts';
import type { TraceArrival } from '../../../gateway/core/tracing.ts';
import {
  attemptAttributes,
  attemptSpanEnd,
  requestSpanEnd,
  requestSpanName,
} from '../../../gateway/tracing/span-attributes.ts';

const ARRIVAL: TraceArrival = {
  traceparent: undefined,
  tracestate: undefined,
  isTrusted: true,
  peerAddress: '10.0.0.1',
  scheme: 'https',
  method: 'GET',
  startedMs: 0,
};
const RECORD: AccessRecord = {
  requestId: 'r-1',
  client: '192.0.2.7',
  user: null,
  method: 'GET',
  version: '1.1',
  scheme: 'https',
  host: 'shop.example.com:8443',
  path: '/orders/1',
  status: 200,
  bytes: 512,
  durationMs: 1.5,
  route: 'orders',
  service: 'order-service',
  branch: 'b',
  attempts: [{ endpoint: '10.0.0.5:80', outcome: 'success', ms: 1 }],
  degraded: 'unreachable; source=stale',
  error: null,
  userAgent: 'curl/8.5',
};

function endOf(record: Partial<AccessRecord>) {
  const { attributes, status } = requestSpanEnd(ARRIVAL, { ...RECORD, ...record });
  return { error: attributes['error.type'], isError: status.code === SpanStatusCode.ERROR, attributes };
}

describe('the span of a request', () => {
  it('tells who asked for what in the words of the conventions, and how it went in those of Weir', () => {
    expect(requestSpanEnd(ARRIVAL, RECORD)).toEqual({
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'url.scheme': 'https',
        'url.path': '/orders/1',
        'server.address': 'shop.example.com',
        'server.port': 8443,
        'network.protocol.version': '1.1',
        'network.peer.address': '10.0.0.1',
        'client.address': '192.0.2.7',
        'user_agent.original': 'curl/8.5',
        'weir.request_id': 'r-1',
        'weir.route': 'orders',
        'weir.service': 'order-service',
        'weir.branch': 'b',
        'weir.attempts': 1,
        'weir.degraded': 'unreachable; source=stale',
      },
    });
  });

  it.each([
    ['an answer of a service with 500', { status: 500 }, '500', true],
    ['an answer of Weir with 503', { status: 503, error: 'empty_pool' }, 'empty_pool', true],
    ['an answer that broke off', { error: 'truncated' }, 'truncated', true],
    ['an answer of Weir with 404', { status: 404, error: 'no_route' }, undefined, false],
    ['a client that left', { status: 0, error: 'client_gone' }, undefined, false],
    ['an answer of a service with 404', { status: 404 }, undefined, false],
  ])('says of %s whether it is an error', (_what, record, type, isError) => {
    expect(endOf(record)).toMatchObject({ error: type, isError });
  });

  it.each([
    ['[::1]:80', { 'server.address': '::1', 'server.port': 80 }],
    ['[::1]', { 'server.address': '::1' }],
    ['example.com', { 'server.address': 'example.com' }],
  ])('takes the authority %s apart', (host, expected) => {
    expect(endOf({ host }).attributes).toMatchObject(expected);
    expect(endOf({ host }).attributes['server.port']).toBe(
      'server.port' in expected ? expected['server.port'] : undefined,
    );
  });

  it('has few names, and no method of the client in them that nobody knows', () => {
    expect([requestSpanName('GET', 'orders'), requestSpanName('BREW', 'orders'), requestSpanName('GET', null)]).toEqual(
      ['GET orders', 'HTTP orders', 'GET'],
    );
    expect(endOf({ method: 'BREW' }).attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'BREW',
    });
  });

  it('is bounded, whatever a client sends', () => {
    const { attributes } = endOf({ path: `/${'x'.repeat(9000)}`, userAgent: 'y'.repeat(9000), host: 'z'.repeat(9000) });
    expect(JSON.stringify(attributes).length).toBeLessThan(4000);
  });
});

describe('the span of an attempt', () => {
  const to = { key: '[::1]:8080', host: '::1', port: 8080, isTls: false, target: '/a?token=secret' };

  it('tells where it went, without the query, and how often the request was sent before', () => {
    expect(attemptAttributes('GET', to, 0)).toEqual({
      'http.request.method': 'GET',
      'server.address': '::1',
      'server.port': 8080,
      'url.scheme': 'http',
      'url.full': 'http://[::1]:8080/a',
    });
    expect(attemptAttributes('GET', { ...to, isTls: true }, 2)).toMatchObject({
      'http.request.resend_count': 2,
      'url.full': 'https://[::1]:8080/a',
    });
  });

  const ends: readonly (readonly [number, Outcome, string | undefined])[] = [
    [200, 'success', undefined],
    [404, 'success', '404'],
    [503, 'status', '503'],
    [200, 'truncated', 'truncated'],
    [0, 'connection_refused', 'connection_refused'],
    [0, 'client_gone', undefined],
    [200, 'client_gone', undefined],
  ];

  it.each(ends)('of status %i and outcome %s has the error %s', (status, outcome, type) => {
    const end = attemptSpanEnd(status, outcome);
    expect(end.attributes['error.type']).toBe(type);
    expect(end.status.code).toBe(type === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR);
    expect(end.attributes['http.response.status_code']).toBe(status === 0 ? undefined : status);
  });
});

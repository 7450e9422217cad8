// What a gRPC client asks for beside an answer, and what a grpc-status says of an endpoint.
import { describe, expect, it } from 'vitest';
import { FieldTable } from '../../../gateway/http1/field-table.ts';
import { grpcTimeoutOf, http2Wishes, meantStatus } from '../../../gateway/proxy/grpc.ts';

const withField = (name: string, value: string) => ({
  header: (asked: string) => (asked === name ? value : undefined),
});

function fields(lines: string): FieldTable {
  const table = new FieldTable(8);
  expect(table.parse(lines, 0, lines.length)).toBeNull();
  return table;
}

describe('the wishes of a client', () => {
  it.each([
    ['trailers', true],
    ['Trailers', true],
    ['gzip, trailers', true],
    ['gzip;q=0.5 ,\ttrailers ', true],
    ['gzip', false],
    ['xtrailers', false],
  ])('TE: %s takes trailers: %s', (te, takesTrailers) => {
    expect(http2Wishes(withField('te', te), null)).toEqual({ takesTrailers, grpcTimeoutMs: null });
  });

  it('have a time only where it can be read', () => {
    expect(grpcTimeoutOf(withField('grpc-timeout', '20m'))).toBe(20);
    expect(grpcTimeoutOf(withField('grpc-timeout', 'soon'))).toBeNull();
    expect(grpcTimeoutOf(withField('x', ''))).toBeNull();
  });
});

describe('the status that an answer means', () => {
  it.each([
    [200, '', false, 200],
    [200, 'grpc-status: 0\r\n', false, 200],
    [200, 'grpc-status: 14\r\n', false, 503],
    [200, 'grpc-status: 13\r\n', false, 500],
    [200, 'grpc-status: 5\r\n', false, 404],
    [200, 'grpc-status: nine\r\n', false, 200],
    [200, 'grpc-status: 14\r\ngrpc-status: 0\r\n', false, 200],
    [503, 'grpc-status: 0\r\n', false, 503],
    [200, 'grpc-status: 4\r\n', false, 504],
    [200, 'grpc-status: 4\r\n', true, 200],
    [200, 'grpc-status: 14\r\n', true, 503],
  ])('of %i with %j, its own deadline: %s, is %i', (status, lines, hasDeadline, meant) => {
    expect(meantStatus(status, fields(lines), hasDeadline)).toBe(meant);
  });
});

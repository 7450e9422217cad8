// Weir's own answers to gRPC clients: a status of theirs in a head that is all there is.
import { describe, expect, it } from 'vitest';
import { errorAnswer } from '../../../gateway/proxy/answers.ts';

describe('an answer to a gRPC client', () => {
  it('is a head with its status, its message, and what every answer has', () => {
    const wishes = { contentType: 'application/grpc+proto; x=1', accept: 'text/html', lines: 'X-A: 1\r\n' };
    const { head, content } = errorAnswer('connection_refused', 'id', wishes);
    expect(head).toMatchObject({ status: 200, framing: { kind: 'length', length: 0 } });
    expect(head.lines.split('\r\n')).toEqual([
      'Content-Type: application/grpc+proto',
      'Content-Length: 0',
      'grpc-status: 14',
      'grpc-message: The service refused the connection.',
      'X-Request-Id: id',
      'Proxy-Status: weir; error=connection_refused',
      'X-A: 1',
      '',
    ]);
    expect(content).toHaveLength(0);
  });

  it.each(['application/json', 'application/grpcs', undefined])('is none for %s', (contentType) => {
    expect(errorAnswer('no_route', 'id', { contentType }).head.status).toBe(404);
  });
});

import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { failureOf, isCallersFault } from '../../../gateway/client/attempt-error.ts';
import { attemptFailure, isLocalShortage } from '../../../gateway/proxy/upstream/upstream-error.ts';

const sockets = { attemptFailure, isLocalShortage };

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('an error of undici', () => {
  it.each([
    ['a refused connection', withCode('ECONNREFUSED'), false, 'connection_refused'],
    ['no route', withCode('EHOSTUNREACH'), false, 'destination_ip_unroutable'],
    ['a name that does not resolve', withCode('ENOTFOUND'), false, 'dns_error'],
    ['no connection in time', new errors.ConnectTimeoutError(), false, 'connection_timeout'],
    ['a certificate of nobody', withCode('SELF_SIGNED_CERT_IN_CHAIN'), false, 'tls_certificate_error'],
    ['a connection that was cut', withCode('ECONNRESET'), true, 'connection_terminated'],
    ['a connection that was closed', new errors.SocketError('other side closed'), true, 'connection_terminated'],
    ['no answer in time', new errors.HeadersTimeoutError(), true, 'http_response_timeout'],
    ['no HTTP', new errors.HTTPParserError('Expected HTTP/'), true, 'http_protocol_error'],
    ['a head without end', new errors.HeadersOverflowError(), true, 'http_protocol_error'],
  ])('is, of %s, a failure of the endpoint', (_what, error, isSent, failure) => {
    expect(failureOf(error, isSent, sockets)).toBe(failure);
    expect(isCallersFault(error)).toBe(false);
  });

  it.each([
    ['an invalid field', new errors.InvalidArgumentError('invalid x header')],
    ['an Expect field', new errors.NotSupportedError('expect header not supported')],
    ['a body of another length than announced', new errors.RequestContentLengthMismatchError()],
    ['a request that was aborted', new errors.RequestAbortedError()],
  ])('is, of %s, the fault of the caller', (_what, error) => {
    expect(isCallersFault(error)).toBe(true);
  });
});

// How an attempt at an endpoint can end, in the words of RFC 9209 where it has one.

/**
 * Every way in which an attempt ends. `success` and `client_gone` say nothing against the endpoint; `status` is an
 * answer whose status the route counts as a failure; `truncated` is a body that broke off after its head was good.
 */
export const OUTCOMES = [
  'success',
  'client_gone',
  'status',
  'connection_refused',
  'destination_ip_unroutable',
  'dns_error',
  'connection_timeout',
  'tls_certificate_error',
  'tls_protocol_error',
  'connection_terminated',
  'http_protocol_error',
  'http_response_timeout',
  'truncated',
] as const;

export type Outcome = (typeof OUTCOMES)[number];
export type Failure = Exclude<Outcome, 'success' | 'client_gone'>;

/** Failures of the connection or the exchange itself, before there was an answer to pass on. */
export type AttemptFailure = Exclude<Failure, 'status' | 'truncated'>;

/** What a person reads for each failure. */
export const FAILURE_TEXT: Readonly<Record<Failure, string>> = {
  status: 'an answer with a failure status',
  connection_refused: 'connection refused',
  destination_ip_unroutable: 'no route to the address',
  dns_error: 'the name does not resolve',
  connection_timeout: 'connect timeout',
  tls_certificate_error: 'a certificate that cannot be trusted',
  tls_protocol_error: 'a TLS handshake that failed',
  connection_terminated: 'connection closed before the response',
  http_protocol_error: 'an invalid response',
  http_response_timeout: 'response timeout',
  truncated: 'a response that broke off',
};

export function isFailure(outcome: Outcome): outcome is Failure {
  return outcome !== 'success' && outcome !== 'client_gone';
}

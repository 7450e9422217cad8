// The answers that Weir makes itself: for each situation its status and its RFC 9209 error type (SPEC section 3).
import type { AttemptFailure } from './failure.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly title: string;
  /** A sentence for the client; tells nothing about the inside of the network. */
  readonly detail: string;
  /** The error type of the Proxy-Status field; null where RFC 9209 has none for it. */
  readonly proxyStatus: string | null;
  /** Seconds for the Retry-After field. */
  readonly retryAfterSeconds?: number;
}

const badGateway = (proxyStatus: string, detail: string): ErrorAnswer => ({
  status: 502,
  title: 'Bad Gateway',
  detail,
  proxyStatus,
});

const gatewayTimeout = (proxyStatus: string, detail: string): ErrorAnswer => ({
  status: 504,
  title: 'Gateway Timeout',
  detail,
  proxyStatus,
});

const refused = (status: number, title: string, detail: string): ErrorAnswer => ({
  status,
  title,
  detail,
  proxyStatus: 'http_request_error',
});

/** Every answer of Weir's own, by situation. */
export const ERROR_ANSWERS = {
  no_route: {
    status: 404,
    title: 'Not Found',
    detail: 'No route matches this request.',
    proxyStatus: 'destination_not_found',
  },
  empty_pool: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The service has no instance that can answer.',
    proxyStatus: 'destination_unavailable',
    retryAfterSeconds: 5,
  },
  breaker_open: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The service fails too often at present; it is tried again in a moment.',
    proxyStatus: 'destination_unavailable',
    retryAfterSeconds: 5,
  },
  maintenance: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The service is being maintained.',
    proxyStatus: 'destination_unavailable',
    retryAfterSeconds: 30,
  },
  failed_status: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'The service answers with an error.',
    proxyStatus: 'destination_unavailable',
    retryAfterSeconds: 5,
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    detail: 'This client may not come in here.',
    proxyStatus: 'http_request_denied',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    detail: 'This needs credentials that are valid.',
    proxyStatus: 'http_request_denied',
  },
  auth_unavailable: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'Who may come in cannot be found out at present.',
    proxyStatus: 'http_request_denied',
    retryAfterSeconds: 5,
  },
  rate_limited: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'Too many requests came in too short a time.',
    proxyStatus: 'http_request_denied',
  },
  concurrency_limit: {
    status: 503,
    title: 'Service Unavailable',
    detail: 'Too many requests are under way.',
    proxyStatus: 'connection_limit_reached',
    retryAfterSeconds: 1,
  },
  connection_refused: badGateway('connection_refused', 'The service refused the connection.'),
  destination_ip_unroutable: badGateway('destination_ip_unroutable', 'The service is out of reach.'),
  dns_error: badGateway('dns_error', 'The name of the service does not resolve.'),
  tls_certificate_error: badGateway('tls_certificate_error', 'The certificate of the service cannot be trusted.'),
  tls_protocol_error: badGateway('tls_protocol_error', 'The service does not speak TLS.'),
  connection_terminated: badGateway('connection_terminated', 'The service closed the connection without an answer.'),
  http_protocol_error: badGateway('http_protocol_error', 'The service sent an invalid response.'),
  connection_timeout: gatewayTimeout('connection_timeout', 'The service did not accept the connection in time.'),
  http_response_timeout: gatewayTimeout('http_response_timeout', 'The service did not answer in time.'),
  bad_request: refused(400, 'Bad Request', 'The request is malformed.'),
  plain_http: refused(400, 'Bad Request', 'This port speaks HTTPS, and the request came in plain HTTP.'),
  rewrite_mismatch: refused(400, 'Bad Request', 'The path cannot be rewritten as this route says.'),
  method_not_allowed: refused(405, 'Method Not Allowed', 'This method is not available here.'),
  request_timeout: refused(408, 'Request Timeout', 'The request did not arrive in time.'),
  content_too_large: refused(413, 'Content Too Large', 'The content is larger than this route accepts.'),
  uri_too_long: refused(414, 'URI Too Long', 'The request line is longer than this gateway accepts.'),
  fields_too_large: refused(431, 'Request Header Fields Too Large', 'The header is larger than this gateway accepts.'),
  not_implemented: refused(501, 'Not Implemented', 'This transfer coding or protocol is not supported here.'),
} as const satisfies Readonly<Record<AttemptFailure | string, ErrorAnswer>>;

export type ErrorSituation = keyof typeof ERROR_ANSWERS;

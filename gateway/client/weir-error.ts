// What the dispatcher itself says when a request cannot be made: an error with a code.

/**
 * - `WEIR_NO_ENDPOINT`: the service has no endpoint that takes traffic, or discovery has not answered in time;
 * - `WEIR_BREAKER_OPEN`: the breaker of the service is open;
 * - `WEIR_TIMEOUT`: `timeout.total` is over;
 * - `WEIR_BAD_ADDRESS`: the URL names a service in a way that means nothing;
 * - `WEIR_NOT_READY`: `ready()` has waited in vain;
 * - `WEIR_BAD_OPTIONS`: the options of the dispatcher are wrong; the message has one line for each problem.
 *
 * Every other error is that of the last attempt, as undici gives it.
 */
export type WeirErrorCode =
  | 'WEIR_NO_ENDPOINT'
  | 'WEIR_BREAKER_OPEN'
  | 'WEIR_TIMEOUT'
  | 'WEIR_BAD_ADDRESS'
  | 'WEIR_NOT_READY'
  | 'WEIR_BAD_OPTIONS';

export class WeirError extends Error {
  override readonly name = 'WeirError';
  readonly code: WeirErrorCode;

  constructor(code: WeirErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

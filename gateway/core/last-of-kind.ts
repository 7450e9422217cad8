// The last object of each kind that lives only as long as a request: without it V8 forgets the code made for the kind.

export interface LastOfKind {
  /** Requests without content, and with it, by what the client speaks. */
  http1Exchange: object | null;
  http1Upload: object | null;
  http2Exchange: object | null;
  http2Upload: object | null;
  lease: object | null;
  /** By what the endpoint speaks. */
  http1Call: object | null;
  http2Call: object | null;
  /** The end of an event loop's turn, at which what is held back is written. */
  turn: object | null;
}

const NONE: LastOfKind = {
  http1Exchange: null,
  http1Upload: null,
  http2Exchange: null,
  http2Upload: null,
  lease: null,
  http1Call: null,
  http2Call: null,
  turn: null,
};

/**
 * V8 knows the layout of a kind of object only while there is such an object, and throws away the machine code that
 * relies on a layout with it. In a lull there is no request; V8 collects after 100 s without a collection, and all the
 * code of the request path was gone: the burst that came next was served by the interpreter. So a thread holds on to the
 * last object of each kind, and with it to what that points to: the connections at both ends, the fields, the content.
 *
 * The newest, not the first: V8 changes the layout of a kind while it learns what its fields hold. Nobody reads them.
 * What is large must be let go at the end of a request, as ever.
 */
export const lastOf: LastOfKind = { ...NONE };

export function keepExchange(exchange: { readonly version: string; readonly announcedBytes: number | null }): void {
  const isUpload = exchange.announcedBytes !== 0;
  if (exchange.version === '2') {
    if (isUpload) lastOf.http2Upload = exchange;
    else lastOf.http2Exchange = exchange;
  } else if (isUpload) lastOf.http1Upload = exchange;
  else lastOf.http1Exchange = exchange;
}

/** They hold what was in force for them: with other routes the old ones are to be free. */
export function forgetLast(): void {
  Object.assign(lastOf, NONE);
}

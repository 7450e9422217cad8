// The last object of each kind that lives only as long as a request: without it V8 forgets the code made for the kind.

export interface LastOfKind {
  http1Exchange: object | null;
  http2Exchange: object | null;
  lease: object | null;
  http1Call: object | null;
  http2Call: object | null;
  /** The end of an event loop's turn, at which what is held back is written. */
  turn: object | null;
}

/**
 * V8 knows the layout of a kind of object only while there is such an object, and throws away the machine code that
 * relies on a layout with it. In a lull there is no request; V8 collects after 100 s without a collection, and all the
 * code of the request path was gone: the burst that came next was served by the interpreter. So a thread holds on to the
 * last object of each kind, and with it to what that points to: the connections at both ends, the fields, the content.
 *
 * The newest, not the first: V8 changes the layout of a kind while it learns what its fields hold. Nobody reads them.
 * What is large must be let go at the end of a request, as ever.
 */
export const lastOf: LastOfKind = {
  http1Exchange: null,
  http2Exchange: null,
  lease: null,
  http1Call: null,
  http2Call: null,
  turn: null,
};

/** They hold what was in force for them: with other routes the old ones are to be free. */
export function forgetLast(): void {
  lastOf.http1Exchange = null;
  lastOf.http2Exchange = null;
  lastOf.lease = null;
  lastOf.http1Call = null;
  lastOf.http2Call = null;
}

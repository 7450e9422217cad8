// What a client may ask of an HTTP/2 session, as nghttp2 and node:http2 enforce it.
import type { ServerSessionOptions } from 'node:http2';
import type { HeadLimits } from '../../http1/head-limits.ts';

/** Requests of one client that are under way at a time (RFC 9113 section 5.1.2). */
export const MAX_STREAMS = 100;

/** Cookies come in as many fields as they have parts (RFC 9113 section 8.2.3): beside the fields that are counted. */
const MAX_COOKIE_PARTS = 256;
const PSEUDO_FIELDS = 5;
/** What RFC 9113 section 6.5.2 adds for each field. */
const FIELD_OVERHEAD_BYTES = 32;

/** What one stream may send before it is read: memory that a client can take without an answer. */
const STREAM_WINDOW_BYTES = 65_535;

/** What all streams of a session together may have on their way. */
export const SESSION_WINDOW_BYTES = 1_048_576;

/**
 * What node:http2 and nghttp2 hold for a session, answers that wait for the socket included: node:http2 refuses every new
 * request beyond it, so it must be more than all streams together may have waiting, which is twice 64 KiB each.
 */
const MAX_SESSION_MEGABYTES = 32;

/**
 * Options for a session of a listener with these limits. A head a little over the limits is read whole, so that it can be
 * answered with 414 or 431; a far larger one is not: its stream is reset.
 */
export function sessionOptions({ firstLineBytes, fieldsBytes, fieldCount }: HeadLimits): ServerSessionOptions {
  const maxHeaderListPairs = 2 * fieldCount + MAX_COOKIE_PARTS + PSEUDO_FIELDS;
  return {
    settings: {
      enablePush: false,
      // WebSockets on streams (RFC 8441).
      enableConnectProtocol: true,
      maxConcurrentStreams: MAX_STREAMS,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: 2 * (firstLineBytes + fieldsBytes) + maxHeaderListPairs * FIELD_OVERHEAD_BYTES,
    },
    maxHeaderListPairs,
    // Answers are passed on as they are, and heads are no larger than the endpoint's.
    strictSingleValueFields: false,
    maxSendHeaderBlockLength: 2 * 65_536,
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: MAX_STREAMS,
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    streamResetBurst: 1000,
    streamResetRate: 33,
  };
}

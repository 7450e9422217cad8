// The rules that a message can break, by name, and what a request that breaks one is answered.

/** Each rule with the status of the answer to a request; a response that breaks one is always a bad gateway. */
export const VIOLATIONS = {
  'bare line end': 400,
  'malformed request line': 400,
  'malformed target': 400,
  'malformed status line': 400,
  'unknown version': 400,
  'malformed field name': 400,
  'space before colon': 400,
  'folded line': 400,
  'control octet in a field value': 400,
  'too many fields': 431,
  'request line too long': 414,
  'head too large': 431,
  'missing host': 400,
  'repeated host': 400,
  'malformed host': 400,
  'malformed content length': 400,
  'repeated content length': 400,
  'content length and transfer encoding': 400,
  'transfer encoding in HTTP/1.0': 400,
  'transfer encoding does not end in chunked': 400,
  'unknown transfer coding': 501,
  'malformed chunk size': 400,
  'malformed chunk extension': 400,
  'chunk extension too long': 400,
  'malformed chunk': 400,
  'trailer section too large': 400,
} as const;

export type Violation = keyof typeof VIOLATIONS;

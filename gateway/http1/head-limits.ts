// How large a head may be.

export interface HeadLimits {
  /** Octets of the first line without its CRLF. */
  readonly firstLineBytes: number;
  /** Octets of all field lines together. */
  readonly fieldsBytes: number;
  readonly fieldCount: number;
}

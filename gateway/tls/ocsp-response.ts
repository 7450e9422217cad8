// Whether octets are a successful OCSP response (RFC 6960 section 4.2.1), as far as its outer shell tells.

const SEQUENCE = 0x30;
const ENUMERATED = 0x0a;
const SUCCESSFUL = 0;

/** What is wrong with a response in DER; null when its shell is whole and says "successful". */
export function ocspFault(octets: Uint8Array): string | null {
  const outer = element(octets, 0);
  if (outer?.tag !== SEQUENCE || outer.end !== octets.length) return 'not an OCSP response in DER';
  const status = element(octets, outer.start);
  if (status?.tag !== ENUMERATED || status.end - status.start !== 1) return 'not an OCSP response in DER';
  if (octets[status.start] !== SUCCESSFUL) return `an OCSP response without success (status ${octets[status.start]})`;
  const hasContent = status.end < outer.end && octets[status.end] === 0xa0;
  return hasContent ? null : 'an OCSP response without content';
}

interface Element {
  readonly tag: number;
  /** Where the content begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** The element that begins at an offset; undefined when it is not whole. */
function element(octets: Uint8Array, at: number): Element | undefined {
  const [tag, first] = [octets[at], octets[at + 1]];
  if (tag === undefined || first === undefined) return undefined;
  let length = first;
  let start = at + 2;
  if (first >= 0x80) {
    const count = first - 0x80;
    if (count < 1 || count > 3 || start + count > octets.length) return undefined;
    length = 0;
    for (const octet of octets.subarray(start, start + count)) length = length * 256 + octet;
    start += count;
  }
  const end = start + length;
  return end <= octets.length ? { tag, start, end } : undefined;
}

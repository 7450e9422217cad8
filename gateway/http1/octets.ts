// Which octets may stand where in an HTTP/1.1 message (RFC 9110 section 5, RFC 9112 section 3), as tables.

export const CR = 0x0d;
export const LF = 0x0a;
export const SP = 0x20;
export const HTAB = 0x09;
export const COLON = 0x3a;

/** tchar of RFC 9110: what method and field names are made of. */
export const IS_TOKEN: Uint8Array = tableOf((octet) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(octet)));

/** What a field value may hold: visible octets, obs-text, space and tab. */
export const IS_VALUE: Uint8Array = tableOf((octet) => octet === HTAB || (octet >= SP && octet !== 0x7f));

/** What a request target may hold: everything that is visible, and obs-text, which some clients send raw. */
export const IS_TARGET: Uint8Array = tableOf((octet) => octet > SP && octet !== 0x23 && octet !== 0x7f);

export function isBlank(octet: number): boolean {
  return octet === SP || octet === HTAB;
}

/** `text` without the spaces and tabs around it; no other octet is white space in HTTP. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.substring(start, end);
}

function tableOf(holds: (octet: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, octet) => (holds(octet) ? 1 : 0));
}

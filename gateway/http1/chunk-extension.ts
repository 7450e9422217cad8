// The grammar of chunk extensions, read octet by octet (RFC 9112 section 7.1.1).
import { CR, IS_TOKEN, IS_VALUE, isBlank } from './octets.ts';

/** Behind the semicolon, where a name or the blanks in front of it follow. */
export const EXTENSION_BEGINS = 0;
/** Behind the CR of the chunk's line. */
export const EXTENSION_ENDS = 1;
export const EXTENSION_IS_BROKEN = 2;

const NAME = 3;
const BLANK_AFTER_NAME = 4;
const VALUE_BEGINS = 5;
const VALUE = 6;
const QUOTED = 7;
const ESCAPED = 8;
const QUOTE_CLOSED = 9;
const BLANK_AFTER_VALUE = 10;

const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The state behind `octet`; the one before it is none of the two final ones. */
export function nextInExtension(state: number, octet: number): number {
  switch (state) {
    case EXTENSION_BEGINS:
      if (isToken(octet)) return NAME;
      return isBlank(octet) ? EXTENSION_BEGINS : EXTENSION_IS_BROKEN;
    case NAME:
      if (isToken(octet)) return NAME;
      return octet === CR ? EXTENSION_ENDS : afterName(octet);
    case BLANK_AFTER_NAME:
      return afterName(octet);
    case VALUE_BEGINS:
      if (isToken(octet)) return VALUE;
      if (octet === QUOTE) return QUOTED;
      return isBlank(octet) ? VALUE_BEGINS : EXTENSION_IS_BROKEN;
    case VALUE:
      if (isToken(octet)) return VALUE;
      return octet === CR ? EXTENSION_ENDS : afterValue(octet);
    case QUOTED:
      if (octet === QUOTE) return QUOTE_CLOSED;
      if (octet === BACKSLASH) return ESCAPED;
      return IS_VALUE[octet] === 1 ? QUOTED : EXTENSION_IS_BROKEN;
    case ESCAPED:
      return IS_VALUE[octet] === 1 ? QUOTED : EXTENSION_IS_BROKEN;
    case QUOTE_CLOSED:
      return octet === CR ? EXTENSION_ENDS : afterValue(octet);
    default:
      return afterValue(octet);
  }
}

/** Blanks may stand in front of `=` and `;` (the grammar's BWS), but not at the end of the line. */
function afterName(octet: number): number {
  if (octet === EQUALS) return VALUE_BEGINS;
  if (octet === SEMICOLON) return EXTENSION_BEGINS;
  return isBlank(octet) ? BLANK_AFTER_NAME : EXTENSION_IS_BROKEN;
}

function afterValue(octet: number): number {
  if (octet === SEMICOLON) return EXTENSION_BEGINS;
  return isBlank(octet) ? BLANK_AFTER_VALUE : EXTENSION_IS_BROKEN;
}

function isToken(octet: number): boolean {
  return IS_TOKEN[octet] === 1;
}

// Text of others as the value of a field, so that a service reads exactly what was verified.
import { isUtf8 } from 'node:buffer';

/**
 * The text as octets of UTF-8 in a Latin-1 string; undefined for what would not arrive as it is: control characters,
 * spaces at an end (which a reader of fields takes away), half a surrogate pair.
 */
export function identityText(text: string): string | undefined {
  if (!text.isWellFormed() || text !== text.trim()) return undefined;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return undefined;
  }
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** What a value in Latin-1 text says to people: its octets as UTF-8 where they are that. */
export function readIdentityText(value: string): string {
  const octets = Buffer.from(value, 'latin1');
  return isUtf8(octets) ? octets.toString('utf8') : value;
}

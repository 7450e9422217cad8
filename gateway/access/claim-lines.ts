// What a verified token says about its holder, as fields for the service.
import { identityText } from './identity-text.ts';

/** A claim, and the field that tells it. */
export type ClaimField = readonly [claim: string, field: string];

/**
 * The field lines for the claims: text, numbers, true and false as they are written, lists of these joined by commas. A
 * claim that is absent, null or an empty list makes no line. Undefined when one cannot be told exactly: control
 * characters, outer spaces, a comma within an item of a list, an object.
 */
export function claimLines(
  claims: Readonly<Record<string, unknown>>,
  fields: readonly ClaimField[],
): string | undefined {
  let lines = '';
  for (const [claim, field] of fields) {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : null;
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const told = Array.isArray(value) ? listText(value) : itemText(value);
    if (told === undefined) return undefined;
    lines += `${field}: ${told}\r\n`;
  }
  return lines;
}

function listText(items: readonly unknown[]): string | undefined {
  const told: string[] = [];
  for (const item of items) {
    const text = itemText(item);
    // Two roles must not come out of one that has a comma in its name, nor one out of an empty name.
    if (text === undefined || text === '' || text.includes(',')) return undefined;
    told.push(text);
  }
  return told.join(',');
}

function itemText(item: unknown): string | undefined {
  if (typeof item === 'string') return identityText(item);
  return typeof item === 'number' || typeof item === 'boolean' ? String(item) : undefined;
}

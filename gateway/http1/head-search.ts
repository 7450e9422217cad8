// Finds the end of a head in text that arrives in pieces, and what is wrong with one that is not whole yet.
import type { HeadLimits } from './head-limits.ts';
import { CR } from './octets.ts';
import type { Violation } from './violation.ts';

/**
 * The place behind the empty line that ends the head in `text`; 0 while it is not there. `from` is how much of the text
 * was searched before.
 */
export function findHeadEnd(text: string, from: number): number {
  const at = text.indexOf('\r\n\r\n', Math.max(0, from - 3));
  return at === -1 ? 0 : at + 4;
}

/** Why a head that has not ended is refused already; null when it may still become a good one. */
export function judgeUnfinished(text: string, limits: HeadLimits): Violation | null {
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) !== CR) return 'bare line end';
  }
  const lineEnd = text.indexOf('\r\n');
  // A CR at the end may be half of the line end that keeps the limit.
  const length = text.endsWith('\r') ? text.length - 1 : text.length;
  if ((lineEnd === -1 ? length : lineEnd) > limits.firstLineBytes) return 'request line too long';
  const fieldsLength = lineEnd === -1 ? 0 : length - lineEnd - 2;
  return fieldsLength > limits.fieldsBytes ? 'head too large' : null;
}

/** How many octets of empty lines stand in front of a request: they are ignored (RFC 9112 section 2.2). */
export function leadingEmptyLines(text: string): number {
  let at = 0;
  while (text.startsWith('\r\n', at)) at += 2;
  return at;
}

// Reading and writing of the trace context in header fields (W3C Trace Context, level 2; version 00).
import { trimBlanks } from '../http1/octets.ts';

/** Where a request stands in a trace. */
export interface TraceParent {
  /** 32 hexadecimal digits, not all of them 0. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all of them 0: the span of the caller. */
  readonly parentId: string;
  /** Only the flags that are known: SAMPLED and RANDOM. */
  readonly flags: number;
}

/** The flag of a trace that the caller may have recorded. */
export const SAMPLED = 1;
/** The flag of a trace whose id is random in its right-most 7 octets (level 2). */
export const RANDOM = 2;

const LENGTH = 55;
const DASH = 0x2d;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/**
 * The value of a traceparent field; undefined when it is none. Version 00 is read strictly, a later one by its first four
 * parts, as far as they are like those of version 00. Several fields, joined by a comma, are no traceparent.
 */
export function parseTraceparent(value: string): TraceParent | undefined {
  if (value.length < LENGTH || !isHex(value, 0, 2)) return undefined;
  if (value.charCodeAt(2) !== DASH || value.charCodeAt(35) !== DASH || value.charCodeAt(52) !== DASH) return undefined;
  if (!isHex(value, 3, 35) || !isHex(value, 36, 52) || !isHex(value, 53, LENGTH)) return undefined;
  if (value.startsWith('ff')) return undefined;
  const isWhole = value.length === LENGTH || (!value.startsWith('00') && value.charCodeAt(LENGTH) === DASH);
  const [traceId, parentId] = [value.slice(3, 35), value.slice(36, 52)];
  if (!isWhole || traceId === NO_TRACE || parentId === NO_SPAN) return undefined;
  return { traceId, parentId, flags: Number.parseInt(value.slice(53, LENGTH), 16) & (SAMPLED | RANDOM) };
}

/** The field line with its CRLF; `flags` are below 16. */
export function traceparentLine(traceId: string, spanId: string, flags: number): string {
  return `traceparent: 00-${traceId}-${spanId}-0${flags}\r\n`;
}

const MOST_MEMBERS = 32;
const MOST_CHARACTERS = 512;
/** Longer members go first when there is too much. */
const LONG_MEMBER = 128;
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/**
 * What is passed on of the value of tracestate fields: nothing ('') of one that breaks the rules or has more than 32
 * members; of more than 512 characters the long members go first, then those on the right, which are the oldest.
 */
export function keptTracestate(value: string): string {
  const members: string[] = [];
  for (const part of value.split(',')) {
    const member = trimBlanks(part);
    if (member === '') continue;
    if (members.length === MOST_MEMBERS || !MEMBER.test(member) || hasKeyOf(member, members)) return '';
    members.push(member);
  }
  const kept = members.join(',');
  return kept.length <= MOST_CHARACTERS ? kept : shortened(members);
}

function isHex(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const octet = text.charCodeAt(at);
    const isDigit = octet >= 0x30 && octet <= 0x39;
    if (!isDigit && (octet < 0x61 || octet > 0x66)) return false;
  }
  return true;
}

function hasKeyOf(member: string, others: readonly string[]): boolean {
  const key = member.slice(0, member.indexOf('=') + 1);
  return others.some((other) => other.startsWith(key));
}

function shortened(members: readonly string[]): string {
  let kept = members.filter(({ length }) => length <= LONG_MEMBER);
  while (kept.join(',').length > MOST_CHARACTERS) kept = kept.slice(0, -1);
  return kept.join(',');
}

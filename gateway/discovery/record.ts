// The parts that the records of every source share, each read strictly or refused.

import type { Instance } from '../core/instance.ts';
import { describeValue, quote } from '../core/quote.ts';

/** What a decoder made of a body: its records, or why the body as a whole is not an answer. */
export type Decoded = DecodedRecords | Undecodable;

export interface DecodedRecords {
  readonly kind: 'records';
  readonly instances: readonly Instance[];
  /** One sentence for each record left out; the same record gives the same sentence wherever it stands. */
  readonly skipped: readonly string[];
  /** One sentence for each record that is used but for a part of it (an invalid weight counts as 1). */
  readonly notes: readonly string[];
}

export interface Undecodable {
  readonly kind: 'undecodable';
  readonly error: string;
}

/** Longest list of sentences a decoder gives; of a longer one the last sentence tells how many were left out. */
export const MAX_SENTENCES = 1000;

/** Parses JSON; undefined with the reason when it is none. */
export function parseJson(text: string): { readonly value: unknown } | Undecodable {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { kind: 'undecodable', error: `the body is not JSON: ${text === '' ? 'it is empty' : quote(text)}` };
  }
}

/** Whether the value is a JSON object (not null, not a list). */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A port 1..65535, as a number or as decimal digits in a string; undefined for anything else. */
export function readPort(value: unknown): number | undefined {
  const port = readDigits(value);
  return port !== undefined && port >= 1 && port <= 65535 ? port : undefined;
}

/** A weight 0..65535, as an integer or as decimal digits in a string (Consul's Meta has strings only). */
export function readWeight(value: unknown): number | undefined {
  const weight = readDigits(value);
  return weight !== undefined && weight >= 0 && weight <= 65535 ? weight : undefined;
}

/** The strings of a list; anything else in it, or instead of it, gives none. */
export function readStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The scalars of an object as strings, a list of strings joined by commas; other values are dropped. */
export function readMeta(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  // fromEntries defines keys instead of assigning them, so that a key `__proto__` is a key like any other.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const text = Array.isArray(item) ? readStrings(item).join(',') : readScalar(item);
      return text === undefined ? [] : [[key, text]];
    }),
  );
}

/** `expected, got …` for a port that `readPort` refused. */
export function badPort(value: unknown): string {
  return `its port must be 1..65535, got ${describeValue(value)}`;
}

/** The note for a weight that `readWeight` refused. */
export function badWeight(value: unknown): string {
  return `its weight must be an integer 0..65535, got ${describeValue(value)}; it counts as 1`;
}

/** At most `MAX_SENTENCES` of the sentences. */
export function boundSentences(sentences: readonly string[]): readonly string[] {
  if (sentences.length <= MAX_SENTENCES) return sentences;
  return [...sentences.slice(0, MAX_SENTENCES - 1), `and ${sentences.length - MAX_SENTENCES + 1} more`];
}

function readDigits(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  return typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : undefined;
}

function readScalar(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

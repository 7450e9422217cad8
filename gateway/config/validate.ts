// A document against a schema: the typed value, or everything that is wrong.
import type { z } from 'zod';
import type { ConfigDocument } from './document.ts';
import { problemsOf } from './issues.ts';
import { type JsonSchema, partsAt } from './json-schema.ts';
import type { Path, Problem } from './problem.ts';
import { replaceAt, valueAt } from './value-at.ts';

/** A kind of file: what checks it, and the same for editors. */
export interface FileKind<Value> {
  readonly schema: z.ZodType<Value>;
  readonly jsonSchema: JsonSchema;
}

/** A checked value; with problems there is none. */
export type Validated<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks a document; one with nothing in it counts as an empty mapping. */
export function validate<Value>(document: ConfigDocument, { schema, jsonSchema }: FileKind<Value>): Validated<Value> {
  if (!document.isReadable) return { ok: false, problems: document.problems };
  for (const path of document.substituted) convertAt(document.value, path, jsonSchema);
  const result = schema.safeParse(document.value ?? {});
  if (result.success && document.problems.length === 0) return { ok: true, value: result.data };
  const found = (result.error?.issues ?? []).flatMap((issue) => problemsOf(issue, { document, jsonSchema }));
  const isNew = (problem: Problem): boolean => !document.problems.some((known) => isSamePlace(known, problem));
  return { ok: false, problems: [...document.problems, ...found.filter(isNew)] };
}

/**
 * A variable always gives text. Where the schema wants a number or true/false and the text is one, it becomes one: so
 * `workers: ${WORKERS}` works, and `token: ${TOKEN}` stays text when the token has only digits.
 */
function convertAt(value: unknown, path: Path, jsonSchema: JsonSchema): void {
  const written = valueAt(value, path);
  const types = partsAt(jsonSchema, path).map(({ type }) => type);
  if (typeof written !== 'string') return;
  if (types.includes('integer') && /^\d{1,15}$/.test(written)) replaceAt(value, path, Number(written));
  if (types.includes('number') && /^\d{1,15}(?:\.\d{1,6})?$/.test(written)) replaceAt(value, path, Number(written));
  if (types.includes('boolean') && /^(?:true|false)$/.test(written)) replaceAt(value, path, written === 'true');
}

function isSamePlace(one: Problem, other: Problem): boolean {
  return one.key === other.key && one.line === other.line && one.column === other.column;
}

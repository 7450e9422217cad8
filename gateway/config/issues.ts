// What zod found wrong with a value, as problems of the file.
import type { z } from 'zod';
import type { ConfigDocument, Fault } from './document.ts';
import { NOT_YET } from './fields.ts';
import { type JsonSchema, keysAt, pathsTo } from './json-schema.ts';
import type { Part } from './locate.ts';
import { formatPath, type Path, type Problem } from './problem.ts';
import { suggest } from './suggest.ts';
import { valueAt } from './value-at.ts';

type Issue = z.core.$ZodIssue;

/** What an issue is about: the file, and the schema that knows its keys. */
interface IssueContext {
  readonly document: ConfigDocument;
  readonly jsonSchema: JsonSchema;
}

/** The problems of one issue; the error texts of the schemas say what was expected, `refuse` what is wrong. */
export function problemsOf(issue: Issue, context: IssueContext): Problem[] {
  const path = pathOf(issue);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key], context));
  if (issue.code === 'invalid_union') {
    const inner = issuesOfTheMeant(issue.errors);
    if (inner !== undefined) {
      return inner.flatMap((each) => problemsOf({ ...each, path: [...issue.path, ...each.path] }, context));
    }
  }
  return [context.document.problemAt(path, partOf(issue), faultOf(issue, valueAt(context.document.value, path)))];
}

/** Of the alternatives of a union the issues of that one which alone is of the written kind, if there is one. */
function issuesOfTheMeant(alternatives: readonly Issue[][]): Issue[] | undefined {
  const meant = alternatives.filter((issues) => !issues.some(isOfAnotherKind));
  return meant.length === 1 ? meant[0] : undefined;
}

function isOfAnotherKind({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

function unknownKey(path: Path, { document, jsonSchema }: IssueContext): Problem {
  const key = String(path.at(-1));
  const known = keysAt(jsonSchema, path.slice(0, -1));
  const elsewhere = pathsTo(jsonSchema, key);
  const [only] = elsewhere.length === 1 ? elsewhere : [];
  const suggestion = suggest(key, known) ?? (only && formatPath(only));
  return document.problemAt(path, 'key', { message: 'unknown key', ...(suggestion !== undefined && { suggestion }) });
}

function faultOf(issue: Issue, value: unknown): Fault {
  if (issue.message === NOT_YET) return { message: NOT_YET };
  const expected = expectedOf(issue);
  const suggestion = typeof value === 'string' ? suggest(value, wordsOf(issue)) : undefined;
  return {
    message: wrongOf(issue, value),
    ...(expected !== undefined && { expected }),
    ...(suggestion !== undefined && { suggestion }),
  };
}

/** As `refuse` says it, or the error text of the schema. */
function expectedOf(issue: Issue): string | undefined {
  if (issue.code === 'invalid_key') return issue.issues.map(expectedOf)[0];
  if (issue.code !== 'custom') return issue.message;
  return typeof issue.params?.expected === 'string' ? issue.params.expected : undefined;
}

function wrongOf(issue: Issue, value: unknown): string {
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'invalid_key') return 'not valid';
  if (value === undefined) return 'missing';
  if (value === null) return 'no value';
  if (issue.code === 'too_small' || issue.code === 'too_big') return Array.isArray(value) ? 'empty' : 'out of range';
  if (issue.code === 'invalid_value' && typeof value === 'string') return 'unknown value';
  return isOfWrongKind(issue, value) ? `wrong type (${kindOf(value)})` : 'not valid';
}

/** A number that is not whole, or no number at all (`.nan`), is still a number. */
function isOfWrongKind(issue: Issue, value: unknown): boolean {
  if (issue.code === 'invalid_type') return typeof value !== 'number' || !['number', 'int'].includes(issue.expected);
  return issue.code === 'invalid_value';
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'boolean') return 'true or false';
  return typeof value === 'number' ? 'a number' : 'text';
}

/** The words that would have been right. */
function wordsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(wordsOf);
  return issue.code === 'invalid_value' ? issue.values.filter((word) => typeof word === 'string') : [];
}

function partOf(issue: Issue): Part {
  const isAboutKey = issue.code === 'invalid_key' || (issue.code === 'custom' && issue.params?.at === 'key');
  return isAboutKey ? 'key' : 'value';
}

function pathOf({ path }: Issue): Path {
  return path.map((step) => (typeof step === 'number' ? step : String(step)));
}

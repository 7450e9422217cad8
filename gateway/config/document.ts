// One YAML file as text becomes one value, with the problems of its writing and the places of its keys.
import { type Document, LineCounter, parseDocument, type YAMLError } from 'yaml';
import type { Environment } from './environment.ts';
import { inspect } from './inspect.ts';
import { locate, type Part } from './locate.ts';
import { formatPath, type Path, type Problem } from './problem.ts';

/** A file that was read; its value is of no use to a schema when `isReadable` is false. */
export interface ConfigDocument {
  readonly file: string;
  /** Plain data with all variables replaced; null for a file with nothing in it. */
  readonly value: unknown;
  /** Whether it is YAML at all: with a syntax error the value means nothing. */
  readonly isReadable: boolean;
  /** What is wrong whatever a schema says: syntax, duplicate keys, variables that are not set. */
  readonly problems: readonly Problem[];
  /** Where variables were replaced: what stands there now is text, also where the schema wants a number. */
  readonly substituted: readonly Path[];
  /** Makes a problem of this file, placed at the key or the value of `path` (or the nearest key above that exists). */
  problemAt(path: Path, part: Part, fault: Fault): Problem;
}

/** What is wrong, without the place. */
export type Fault = Pick<Problem, 'message' | 'expected' | 'suggestion'>;

const TAG_ERRORS: readonly string[] = ['TAG_RESOLVE_FAILED', 'BAD_COLLECTION_TYPE'];

/** Reads one YAML document (1.2 core schema; aliases, but no tags); never throws, whatever the text is. */
export function readDocument(file: string, text: string, environment: Environment): ConfigDocument {
  try {
    return composeDocument(file, text, environment);
  } catch (error) {
    // The stack ran out.
    if (error instanceof RangeError) return unreadable(file, 'nested too deeply');
    throw error;
  }
}

/** A document for a file that cannot even be parsed, with that one problem. */
export function unreadable(file: string, message: string): ConfigDocument {
  const problemAt: ConfigDocument['problemAt'] = (path, _part, fault) => {
    return { file, line: 1, column: 1, key: formatPath(path), ...fault };
  };
  const problems = [problemAt([], 'value', { message })];
  return { file, value: null, isReadable: false, problems, substituted: [], problemAt };
}

function composeDocument(file: string, text: string, environment: Environment): ConfigDocument {
  const lines = countLines(text);
  const yaml = parse(text);
  const problem = (offset: number, path: Path, fault: Fault): Problem => {
    return { file, ...placeAt(lines, offset), key: formatPath(path), ...fault };
  };
  const findings = inspect(yaml, environment);
  const syntax = syntaxErrors(yaml).filter(({ code }) => !(findings.hasTags && isTagError(code)));
  const problems = [
    ...syntax.map((error) => problem(error.pos[0], [], { message: syntaxMessage(error) })),
    ...findings.problems.map(({ offset, path, ...fault }) => problem(offset, path, fault)),
  ];
  const hasValue = syntax.length === 0 && !findings.hasBadAliases;
  const plain = hasValue ? plainValue(yaml) : undefined;
  if (hasValue && plain === undefined) problems.push(problem(0, [], { message: 'aliases that multiply' }));
  return {
    file,
    value: plain?.value ?? null,
    isReadable: plain !== undefined,
    problems,
    substituted: findings.substituted,
    problemAt: (path, part, fault) => problem(locate(yaml, path, part), path, fault),
  };
}

/** The parser's own count loses lines where the text is not YAML, and there the places matter most. */
function countLines(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function parse(text: string): Document.Parsed {
  return parseDocument(text, {
    prettyErrors: false,
    schema: 'core',
    merge: false,
    stringKeys: true,
    // `inspect` looks for duplicates: it knows their paths.
    uniqueKeys: false,
    resolveKnownTags: false,
    logLevel: 'error',
  });
}

/** Undefined when the aliases would make more of the file than the parser allows. */
function plainValue(yaml: Document.Parsed): { value: unknown } | undefined {
  try {
    return { value: yaml.toJS() };
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/** The first error of each place: what follows it there is seldom more than its consequence. */
function syntaxErrors({ errors, warnings }: Document.Parsed): YAMLError[] {
  const all = [...errors, ...warnings];
  const first = new Map(all.toReversed().map((error) => [error.pos[0], error]));
  return all.filter((error) => first.get(error.pos[0]) === error);
}

/** The parser's words without what it quotes from the file: that could be a part of a secret. */
function syntaxMessage({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'more than one YAML document in the file';
  if (code === 'RESOURCE_EXHAUSTION') return 'nested too deeply';
  if (isTagError(code)) return 'YAML tags are not allowed';
  const words = message.replace(/: .*$|(?<=escape sequence) .*$/s, '');
  return `not YAML: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

function isTagError(code: string): boolean {
  return TAG_ERRORS.includes(code);
}

function placeAt(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

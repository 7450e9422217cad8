// A problem of a configuration file: where it is, what is wrong, and how it is written for people.

/** Where a value stands in a file: mapping keys and list positions, from the root on. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a file; no field ever holds a configured value, because it could be a secret. */
export interface Problem {
  /** The file's path, as it was given. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** The key's path, like `match[0].hosts[1]`; empty when the whole file is meant. */
  readonly key: string;
  readonly message: string;
  /** What would have been right. */
  readonly expected?: string;
  /** The known key or value that was probably meant. */
  readonly suggestion?: string;
}

/** Writes `file:line:column key: what is wrong, expected …, did you mean "retry"?` in one line. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, key, message, expected, suggestion } = problem;
  const subject = key === '' ? '' : ` ${key}`;
  const wanted = expected === undefined ? '' : `, expected ${expected}`;
  const meant = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
  return `${file}:${line}:${column}${subject}: ${message}${wanted}${meant}`;
}

/** Writes a path as people read it: `match[0].headers["x y"]`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((written, step) => {
    if (typeof step === 'number') return `${written}[${step}]`;
    if (!/^[\w-]+$/.test(step)) return `${written}[${quoted(step)}]`;
    return written === '' ? step : `${written}.${step}`;
  }, '');
}

/** JSON's quoting, with the control characters that JSON leaves alone escaped too: a terminal would obey them. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

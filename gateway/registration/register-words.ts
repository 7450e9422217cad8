// The words after `weir register`: which options they give, and the command behind `--`.
import { parseArgs } from 'node:util';
import { suggest } from '../config/suggest.ts';
import { quote } from '../core/quote.ts';

const OPTIONS = {
  name: { type: 'string' },
  port: { type: 'string' },
  address: { type: 'string' },
  id: { type: 'string' },
  weight: { type: 'string' },
  tag: { type: 'string', multiple: true },
  meta: { type: 'string', multiple: true },
  http: { type: 'string' },
  ttl: { type: 'string' },
  interval: { type: 'string' },
  'deregister-after': { type: 'string' },
  drain: { type: 'string' },
  registry: { type: 'string' },
  wait: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export type RegisterOptionName = keyof typeof OPTIONS;

const NAMES = Object.keys(OPTIONS);
const REPEATABLE: readonly string[] = ['tag', 'meta'] satisfies RegisterOptionName[];

export interface RegisterWords {
  /** The values of each option that is given, in their order. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly isHelp: boolean;
  readonly command: readonly string[];
  /** One sentence for each word that is none of these. */
  readonly problems: readonly string[];
}

/** Sorts the words; never throws, so that all problems can be told at once. */
export function readRegisterWords(args: readonly string[]): RegisterWords {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const problems: string[] = [];
  const given = new Map<string, string[]>();
  let isHelp = false;
  const { tokens } = parseArgs({
    args: withValuesOnly(own, problems),
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  let stray: string | undefined;
  let unknownAt = -2;
  for (const token of tokens) {
    // What follows an unknown option may be its value.
    if (token.kind === 'positional' && token.index !== unknownAt + 1) stray ??= token.value;
    if (token.kind !== 'option') continue;
    if (token.name === 'help' || token.name === 'h') isHelp = true;
    else if (!NAMES.includes(token.name)) {
      problems.push(unknownOption(token.rawName, token.name));
      unknownAt = token.index;
    } else given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? '']);
  }
  for (const [name, values] of given) {
    if (values.length > 1 && !REPEATABLE.includes(name)) problems.push(`--${name} is given ${values.length} times`);
  }
  const command = end === -1 ? [] : args.slice(end + 1);
  if (stray !== undefined) problems.push(`unexpected word ${quote(stray)}: the command comes after --`);
  else if (command.length === 0) problems.push('the command is missing: it comes last, after --');
  return { given, isHelp, command, problems };
}

/** The words less the options whose value is missing: those would take the next option for their value. */
function withValuesOnly(words: readonly string[], problems: string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const next = words[at + 1];
    kept.push(word);
    if (!isValueOption(word)) continue;
    if (next === undefined || isOption(next)) {
      kept.pop();
      problems.push(`${word} needs a value`);
    } else {
      kept.push(next);
      at++;
    }
  }
  return kept;
}

function isValueOption(word: string): boolean {
  return word.startsWith('--') && word !== '--help' && NAMES.includes(word.slice(2));
}

function isOption(word: string): boolean {
  return word === '-h' || NAMES.includes(/^--([^=]+)/.exec(word)?.[1] ?? '');
}

function unknownOption(rawName: string, name: string): string {
  const nearest = suggest(name, NAMES);
  return `unknown option ${quote(rawName)}${nearest === undefined ? '' : `, did you mean --${nearest}?`}`;
}

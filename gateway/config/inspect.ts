// One walk over the nodes of a YAML document: replaces variables, and finds what no schema could see.
import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
import { type Environment, substitute } from './environment.ts';
import type { Path } from './problem.ts';

/** What the walk found; `substituted` are the paths where a variable was replaced. */
export interface Findings {
  readonly problems: readonly Finding[];
  readonly substituted: readonly Path[];
  readonly hasTags: boolean;
  /** Whether an alias means nothing or itself: the document then has no value. */
  readonly hasBadAliases: boolean;
}

interface Finding {
  /** Where in the text. */
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
  readonly expected?: string;
}

interface Walk {
  readonly document: Document.Parsed;
  readonly environment: Environment;
  readonly problems: Finding[];
  readonly substituted: Path[];
  /** The nodes around the one that is visited. */
  readonly around: Set<unknown>;
  hasTags: boolean;
  hasBadAliases: boolean;
}

/** Replaces the variables in all text values of `document`, in place; finds duplicate keys, tags and bad variables. */
export function inspect(document: Document.Parsed, environment: Environment): Findings {
  const found = { problems: [], substituted: [], hasTags: false, hasBadAliases: false };
  const walk: Walk = { document, environment, around: new Set(), ...found };
  visit(walk, document.contents, []);
  return walk;
}

function visit(walk: Walk, node: unknown, path: Path): void {
  if (isNode(node) && 'tag' in node && node.tag !== undefined) {
    walk.hasTags = true;
    walk.problems.push({ offset: startOf(node), path, message: 'YAML tags are not allowed' });
  }
  if (isScalar(node)) {
    if (typeof node.value === 'string' && node.value.includes('${')) {
      node.value = replaceVariables(walk, { offset: startOf(node), path, text: node.value });
    }
    return;
  }
  if (isAlias(node)) {
    const target = node.resolve(walk.document);
    if (target !== undefined && !walk.around.has(target)) return;
    walk.hasBadAliases = true;
    walk.problems.push({ offset: startOf(node), path, message: target ? 'an alias of itself' : 'an alias of nothing' });
    return;
  }
  walk.around.add(node);
  visitChildren(walk, node, path);
  walk.around.delete(node);
}

function visitChildren(walk: Walk, node: unknown, path: Path): void {
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) visit(walk, item, [...path, index]);
  } else if (isMap(node)) {
    const seen = new Set<string>();
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      checkKey(walk, { offset: startOf(pair.key), path: [...path, key], isRepeated: seen.has(key) });
      seen.add(key);
      visit(walk, pair.value, [...path, key]);
    }
  }
}

function checkKey(walk: Walk, { isRepeated, ...place }: { offset: number; path: Path; isRepeated: boolean }): void {
  if (isRepeated) walk.problems.push({ ...place, message: 'duplicate key' });
  // Assigned to an object it would vanish without a word.
  if (place.path.at(-1) === '__proto__') walk.problems.push({ ...place, message: 'unknown key' });
}

function replaceVariables(walk: Walk, { text, ...place }: { offset: number; path: Path; text: string }): string {
  const result = substitute(text, walk.environment);
  if (result.ok) {
    walk.substituted.push(place.path);
    return result.text;
  }
  walk.problems.push({ ...place, message: result.message, expected: result.expected });
  return text;
}

/** The offset in the text where a node begins; 0 for what is not in the text. */
export function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

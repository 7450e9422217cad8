// From the path of a value to the place in the YAML text where it stands.
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import { startOf } from './inspect.ts';
import type { Path } from './problem.ts';

/** Which half of a `key: value` is meant; an item of a list has only a value. */
export type Part = 'key' | 'value';

/** The offset where the key or the value of `path` begins; where that is missing, of the nearest key above it. */
export function locate(document: Document.Parsed, path: Path, part: Part): number {
  let value: Node | null = document.contents;
  let owner: Node | null = value;
  let key: Node | null = null;
  for (const step of path) {
    const child = childOf(isAlias(value) ? value.resolve(document) : value, step);
    if (child === undefined) return startOf(owner);
    key = child.key;
    value = child.value;
    owner = key ?? value ?? owner;
  }
  return startOf(part === 'key' ? (key ?? value) : (value ?? key));
}

function childOf(container: unknown, step: string | number): { key: Node | null; value: Node | null } | undefined {
  if (isSeq(container) && typeof step === 'number') {
    const item = container.items[step];
    return isNode(item) ? { key: null, value: item } : undefined;
  }
  if (!isMap(container)) return undefined;
  // Of a duplicate key the last one counts, as in the value.
  const pair = container.items.findLast((item) => isScalar(item.key) && item.key.value === step);
  return pair && { key: asNode(pair.key), value: asNode(pair.value) };
}

function asNode(candidate: unknown): Node | null {
  return isNode(candidate) ? candidate : null;
}

// Plain data by path: reading and replacing what stands there.
import type { Path } from './problem.ts';

/** The value at `path`, undefined where there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((container, step) => {
    return isContainer(container) && Object.hasOwn(container, step) ? container[step] : undefined;
  }, value);
}

/** Replaces the value at `path`, in place, if there is one; the root cannot be replaced. */
export function replaceAt(value: unknown, path: Path, replacement: unknown): void {
  const container = valueAt(value, path.slice(0, -1));
  const last = path.at(-1);
  if (last !== undefined && isContainer(container) && Object.hasOwn(container, last)) container[last] = replacement;
}

function isContainer(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}

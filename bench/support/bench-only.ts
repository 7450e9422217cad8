// Packages that only the benchmarks have: loaded by name, so that the rest of the project does without them.

/** Imports a package of bench/package.json; an error that says what to run where it is not installed. */
export async function importBenchOnly(name: string): Promise<unknown> {
  try {
    return await import(name);
  } catch (error) {
    throw new Error(`${name} is not installed (npm run bench:install)`, { cause: error });
  }
}

/** The value that a package exports under a name, or the default one, as a function. */
export function functionOf(exports: unknown, name: string): (...args: readonly unknown[]) => unknown {
  const found = typeof exports === 'object' && exports !== null ? Reflect.get(exports, name) : undefined;
  if (typeof found !== 'function') throw new Error(`the package exports no function ${name}`);
  return (...args) => found(...args);
}

/** Calls a method of a value whose type is not known here. */
export function call(target: unknown, method: string, ...args: readonly unknown[]): unknown {
  const found = typeof target === 'object' && target !== null ? Reflect.get(target, method) : undefined;
  if (typeof found !== 'function') throw new Error(`no method ${method}`);
  return Reflect.apply(found, target, args);
}

// Variables inside configured text: `${NAME}` and `${NAME:-default}`.

/** The variables by name, as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A text with its variables replaced, or a sentence that says why they could not be. */
export type Substitution =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly expected: string };

const VARIABLE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const NAME_AND_DEFAULT = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * Replaces every variable of `text`: the default stands in for a variable that is not set or empty, as in a shell.
 * `$${` is a literal `${`. What a variable holds is not looked at again.
 */
export function substitute(text: string, environment: Environment): Substitution {
  const failures: Substitution[] = [];
  const replaced = text.replaceAll(VARIABLE, (written: string, inner: string | undefined, close: string) => {
    if (inner === undefined) return '${';
    const [, name, fallback] = (close === '}' ? NAME_AND_DEFAULT.exec(inner) : null) ?? [];
    if (name === undefined) {
      failures.push({ ok: false, message: 'malformed variable', expected: `\${NAME} or \${NAME:-default}` });
      return written;
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined && (value === undefined || value === '')) return fallback;
    if (value === undefined) failures.push(notSet(name));
    return value ?? '';
  });
  return failures[0] ?? { ok: true, text: replaced };
}

function notSet(name: string): Substitution {
  return {
    ok: false,
    message: `the environment variable ${name} is not set`,
    expected: `it to be set, or a default as in \${${name}:-default}`,
  };
}

// Reads of a PromQL expression which metrics and labels it uses; no parser of the language, but enough for that.

/** A metric as an expression selects it. */
export interface Selection {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** What an expression uses. */
export interface PromqlUse {
  readonly selections: readonly Selection[];
  /** The labels of `by`, `on` and their like. */
  readonly grouping: readonly string[];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[A-Za-z_:][\w:]*|=~|!~|!=|[={}(),]/g;
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2']);
const GROUPING: ReadonlySet<string> = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);

export function readPromql(expr: string): PromqlUse {
  const tokens: readonly string[] = expr.match(TOKEN) ?? [];
  const selections: Selection[] = [];
  const grouping: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? '';
    const next = tokens[at + 1];
    if (!/^[A-Za-z_:]/.test(token) || WORDS.has(token)) continue;
    if (GROUPING.has(token)) {
      const end = tokens.indexOf(')', at);
      grouping.push(...tokens.slice(at + 2, end).filter((each) => each !== ','));
      at = end;
    } else if (next === '{') {
      const end = tokens.indexOf('}', at);
      selections.push({ metric: token, matchers: matchersOf(tokens.slice(at + 2, end)) });
      at = end;
    } else if (next !== '(' && !GROUPING.has(next ?? '')) {
      selections.push({ metric: token, matchers: [] });
    }
  }
  return { selections, grouping };
}

function matchersOf(tokens: readonly string[]): Selection['matchers'] {
  const [label, operator, value = '', comma, ...rest] = tokens;
  if (label === undefined || operator === undefined) return [];
  return [{ label, operator, value: value.slice(1, -1) }, ...(comma === undefined ? [] : matchersOf(rest))];
}

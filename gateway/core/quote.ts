// Words of others inside sentences of ours: short, on one line, without control characters.

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/** The text in double quotes, unprintable characters replaced by a blank, cut after `limit` characters (60). */
export function quote(text: string, limit = 60): string {
  const printable = text
    .slice(0, limit * 4)
    .replace(UNPRINTABLE, ' ')
    .trim();
  const characters = [...printable];
  const isCut = characters.length > limit || text.length > limit * 4;
  return isCut ? `"${characters.slice(0, limit).join('')}…"` : `"${printable}"`;
}

/** What kind of value it is, for "expected X, got …": `null`, `a list`, `an object`, `a number`, `"text"`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return value === null ? 'null' : 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

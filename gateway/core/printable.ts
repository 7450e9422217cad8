// Text of others as it may be shown on a terminal: nothing in it moves the cursor, changes a colour or hides.

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The text with every character that does not show as itself written out, like `\u{1b}`; line ends too. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** The same for a text of several lines, which stay lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON that says the same with no such character in its strings. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

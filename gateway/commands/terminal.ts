// What a terminal shows: aligned columns, colours where they are wanted, and a screen that is drawn over.
import type { Environment } from '../config/environment.ts';

const STYLES = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' } as const;
export type Style = keyof typeof STYLES;

/** Paints a text, or leaves it as it is. */
export type Paint = (text: string, style: Style | null) => string;

export interface Cell {
  readonly text: string;
  readonly style?: Style | null;
  /** Numbers stand at the right end of their column. */
  readonly isNumber?: boolean;
}

/** Colours only on a terminal that knows them, and not where NO_COLOR asks for none (https://no-color.org). */
export function paintFor(isTerminal: boolean, environment: Environment): Paint {
  const isPlain = (environment.NO_COLOR ?? '') !== '' || environment.TERM === 'dumb';
  if (!isTerminal || isPlain) return (text) => text;
  return (text, style) => (style === null || text === '' ? text : `\u001b[${STYLES[style]}m${text}\u001b[0m`);
}

/** Rows as lines whose columns have the width of their widest cell, two blanks apart. */
export function alignRows(rows: readonly (readonly Cell[])[], paint: Paint): string[] {
  const columns = Math.max(0, ...rows.map((cells) => cells.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((cells) => widthOf(cells[at]))));
  return rows.map((cells) => {
    const line = cells.map((cell, at) => {
      const padding = ' '.repeat((widths[at] ?? 0) - widthOf(cell));
      const painted = paint(cell.text, cell.style ?? null);
      if (cell.isNumber === true) return padding + painted;
      return at === cells.length - 1 ? painted : painted + padding;
    });
    return line.join('  ').trimEnd();
  });
}

/** The octets that draw the lines over what a terminal of so many rows shows. */
export function drawn(lines: readonly string[], rows: number): string {
  const room = Math.max(1, rows - 1);
  const isCut = lines.length > room;
  const shown = isCut
    ? [...lines.slice(0, room - 1), `... and ${lines.length - room + 1} more lines (--service NAME shows one service)`]
    : lines;
  return `\u001b[H${shown.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`;
}

/** A blank screen whose lines are cut at its edge, without cursor; and back again. */
export const BEGIN_SCREEN = '\u001b[?7l\u001b[?25l\u001b[2J';
export const END_SCREEN = '\u001b[?25h\u001b[?7h';

function widthOf(cell: Cell | undefined): number {
  return cell === undefined ? 0 : [...cell.text].length;
}

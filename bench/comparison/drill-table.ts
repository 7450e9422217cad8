// Reads the table that a drill prints, whatever further columns it has.
import type { ChaosStep } from './chaos-result.ts';

/**
 * The steps of all tables of Markdown in the text that have the columns `step`, `requests` and `failed`. Where there are
 * several, the line before each says what it is about.
 */
export function stepsIn(text: string, subject: string): readonly ChaosStep[] {
  let columns: readonly string[] = [];
  let title = '';
  const lines = text.split('\n');
  const hasSeveral = lines.filter((line) => line.startsWith('| step |')).length > 1;
  return lines.flatMap((line) => {
    if (!line.startsWith('|')) {
      if (line !== '') title = line;
      return [];
    }
    const cells = line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim());
    if (cells.includes('step') && cells.includes('requests')) {
      columns = cells;
      return [];
    }
    const at = (column: string): string => cells[columns.indexOf(column)] ?? '';
    if (at('step') === '' || !/^\d/.test(at('requests'))) return [];
    const extra = at('extra attempts');
    return [
      {
        subject: hasSeveral ? `${subject} (${title})` : subject,
        step: at('step'),
        requests: numberIn(at('requests')),
        failed: numberIn(at('failed')) + numberIn(at('truncated')),
        degraded: numberIn(at('degraded')),
        extraAttempts: extra === '' ? null : numberIn(extra),
        slowestMs: numberIn(at('slowest ms')),
      },
    ];
  });
}

/** Digits may be grouped with commas; an absent cell is 0. */
function numberIn(cell: string): number {
  const number = Number(cell.replaceAll(',', ''));
  return Number.isFinite(number) ? number : 0;
}

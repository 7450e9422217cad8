// "Did you mean": the known word that a misspelt one is nearest to.

/** The word of `known` with the fewest edits from `word` (letter case aside), if they are few for its length. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest && edits <= allowedEdits(candidate)) {
      nearest = candidate;
      fewest = edits;
    }
  }
  return nearest;
}

/** Insertions, deletions, replacements and swaps of neighbours between two words (Damerau, optimal string alignment). */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1] && row > 1 && column > 1;
      const swapped = isSwap ? at(beforePrevious, column - 2) + 1 : replaced;
      current[column] = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, replaced, swapped);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function allowedEdits(word: string): number {
  if (word.length <= 2) return 0;
  return word.length <= 5 ? 1 : Math.floor(word.length / 3);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

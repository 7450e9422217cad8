// Writes what people look at: RESULTS.md and report.html.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderHtml } from './html.ts';
import { generatedPart, withGenerated } from './markdown.ts';
import type { Results } from './results.ts';

/** Writes both into the folder and gives their paths; the part of RESULTS.md outside the markers is kept. */
export function writeReport(results: Results, out: string): readonly string[] {
  mkdirSync(out, { recursive: true });
  const [markdown, html] = [join(out, 'RESULTS.md'), join(out, 'report.html')];
  const before = existsSync(markdown) ? readFileSync(markdown, 'utf8') : '';
  writeFileSync(markdown, withGenerated(before, generatedPart(results)));
  writeFileSync(html, renderHtml(results));
  return [markdown, html];
}

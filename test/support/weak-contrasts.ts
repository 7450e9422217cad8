// Texts of a page that are hard to read: those whose contrast with what is behind them is below 4.5 (WCAG 2.2, 1.4.3).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const SCRIPT = readFileSync(join(import.meta.dirname, 'weak-contrasts.js'), 'utf8');

/** The texts with their contrast, for the message of a failure; backgrounds must be plain colours. */
export function weakContrasts(page: Page): Promise<string[]> {
  return page.evaluate(SCRIPT);
}

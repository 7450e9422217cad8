// Tables that stay tables for those who listen, also where a narrow screen shows their rows as cards.
import { element } from './dom.js';

/** @typedef {{ readonly name: string, readonly hint?: string, readonly isNumber?: boolean }} Column */

/**
 * A table with its caption and the heads of its columns. The roles are said because another `display` may take them away.
 * @param {{ kind: string, caption: HTMLTableCaptionElement, columns: readonly Column[] }} options
 * @param {...HTMLElement} bodies
 */
export function table({ kind, caption, columns }, ...bodies) {
  const head = element('tr', { role: 'row' });
  for (const { name, hint = '', isNumber = false } of columns) {
    const attributes = { scope: 'col', role: 'columnheader', title: hint || false, class: isNumber ? 'number' : false };
    head.append(element('th', attributes, name));
  }
  const rows = element('thead', { role: 'rowgroup' }, head);
  return element('table', { class: kind, role: 'table' }, caption, rows, ...bodies);
}

/**
 * A cell that shows the name of its column where the heads are not seen.
 * @param {string} label
 * @param {boolean} isNumber
 */
export function labelledCell(label, isNumber = true) {
  return element('td', { class: isNumber ? 'number' : false, role: 'cell', 'data-label': label });
}

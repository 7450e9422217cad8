// A row of badges: each a sign and a word, so that colour is never alone.
/** @import { Badge } from './levels.js' */
import { element } from './dom.js';
import { SIGNS } from './levels.js';

/**
 * @param {Badge} badge
 */
export function badge({ level, text }) {
  return element(
    'span',
    { class: `badge ${level}` },
    element('span', { 'aria-hidden': 'true', class: 'sign' }, SIGNS[level]),
    text,
  );
}

/** Badges that are drawn anew only when they change. */
export class Badges {
  root = element('span', { class: 'badges' });
  #drawn = '';

  /** @param {readonly Badge[]} badges */
  update(badges) {
    const wanted = badges.map(({ level, text }) => `${level} ${text}`).join();
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    this.root.replaceChildren(...badges.flatMap((each, at) => (at === 0 ? [badge(each)] : [' ', badge(each)])));
  }
}

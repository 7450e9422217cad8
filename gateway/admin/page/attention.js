// What is wrong now, and what has changed since the page was opened; changes are read out to those who listen.
/** @import { Change, Problem } from './document.ts' */
import { badge } from './badges.js';
import { byId, element, setHidden, setText, syncParts } from './dom.js';
import { clockTime, count } from './format.js';

const SHOWN_PROBLEMS = 12;
const KEPT_CHANGES = 60;
const SPOKEN_CHANGES = 3;

export class Attention {
  #onShow;
  #list = byId('problems');
  /** @type {Map<string, ProblemItem>} */
  #items = new Map();

  /** @param {{ onShow: (service: string) => void }} options */
  constructor({ onShow }) {
    this.#onShow = onShow;
  }

  /** @param {readonly Problem[]} problems */
  update(problems) {
    const shown = problems.slice(0, SHOWN_PROBLEMS);
    const values = new Map(shown.map((problem, at) => [problem.service ?? `#${at}`, problem]));
    syncParts({
      parent: this.#list,
      parts: this.#items,
      values,
      make: (_key, { service }) => new ProblemItem(service, this.#onShow),
      refuge: byId('filter'),
    });
    for (const [key, problem] of values) this.#items.get(key)?.update(problem);
    const urgent = problems.filter(({ level }) => level === 'bad' || level === 'warn').length;
    setHidden(byId('no-problem'), problems.length > 0);
    setText(byId('problem-count'), urgent === 0 ? '' : count(urgent));
    setHidden(byId('problem-count'), urgent === 0);
    const more = problems.length - shown.length;
    setText(byId('more-problems'), `and ${count(more)} more; the table can show only these services`);
    setHidden(byId('more-problems'), more === 0);
    return urgent;
  }
}

class ProblemItem {
  root = element('li');
  #sign = element('span', { class: 'problem-sign' });
  #text = element('span');
  #level = '';

  /**
   * @param {string | null} service
   * @param {(service: string) => void} onShow
   */
  constructor(service, onShow) {
    const subject = service === null ? element('strong', {}, 'Gateway') : showButton(service, onShow);
    this.root.append(this.#sign, element('span', {}, subject, ': ', this.#text));
  }

  /** @param {Problem} problem */
  update({ level, sentences }) {
    if (level !== this.#level) this.#sign.replaceChildren(badge({ level, text: WORDS[level] }));
    this.#level = level;
    setText(this.#text, sentences.join('; '));
  }
}

/**
 * @param {string} service
 * @param {(service: string) => void} onShow
 */
function showButton(service, onShow) {
  const button = element('button', { type: 'button', class: 'link' }, service);
  button.addEventListener('click', () => onShow(service));
  return button;
}

/** @type {Readonly<Record<Problem['level'], string>>} */
const WORDS = { ok: 'fine', info: 'note', warn: 'warning', bad: 'critical' };

/** The newest changes first; the oldest are forgotten. */
export class ChangeList {
  #list = byId('changes');

  /** @param {readonly Change[]} changes */
  add(changes) {
    if (changes.length === 0) return;
    const nowMs = Date.now();
    const items = changes.map(({ level, service, text }) =>
      element(
        'li',
        {},
        element('time', { datetime: new Date(nowMs).toISOString() }, clockTime(nowMs, nowMs)),
        badge({ level, text: service ?? 'gateway' }),
        element('span', {}, text),
      ),
    );
    this.#list.prepend(...items.toReversed());
    while (this.#list.children.length > KEPT_CHANGES) this.#list.lastElementChild?.remove();
    setHidden(byId('no-change'), true);
    const spoken = changes.slice(0, SPOKEN_CHANGES).map(({ service, text }) => `${service ?? 'Gateway'}: ${text}.`);
    const more = changes.length - spoken.length;
    setText(byId('announcer'), `${spoken.join(' ')}${more > 0 ? ` ${more} more changes.` : ''}`);
  }
}

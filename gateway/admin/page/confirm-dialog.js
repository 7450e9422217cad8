// The dialog that asks before an order is given, and keeps what it says true while it is open.
/** @import { Reply } from './document.ts' */
/** @import { Question } from './orders.js' */
import { byId, element, kindById, setHidden, setText } from './dom.js';

/**
 * @typedef {{
 *   readonly question: () => Question | null,
 *   readonly order: (reason: string) => Promise<Reply>,
 *   readonly asksReason: boolean,
 *   readonly onDone: (verb: string) => void,
 * }} Order
 */

const GONE = 'It is gone from the pool.';

export class ConfirmDialog {
  #isLost;
  #dialog = kindById('confirm', HTMLDialogElement);
  #go = kindById('confirm-go', HTMLButtonElement);
  #reason = kindById('confirm-reason', HTMLInputElement);
  /** @type {Order | null} */
  #order = null;
  #isBusy = false;

  /** @param {{ isLost: () => boolean }} options whether the gateway does not answer at the moment */
  constructor({ isLost }) {
    this.#isLost = isLost;
    byId('confirm-cancel').addEventListener('click', () => this.#dialog.close());
    byId('confirm-form').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#give();
    });
    this.#dialog.addEventListener('close', () => {
      this.#order = null;
    });
  }

  /** @param {Order} order */
  ask(order) {
    this.#order = order;
    this.#isBusy = false;
    this.#reason.value = '';
    setHidden(byId('confirm-reason-row'), !order.asksReason);
    setText(byId('confirm-error'), '');
    this.refresh();
    this.#dialog.showModal();
    if (order.asksReason) this.#reason.focus();
    else byId('confirm-cancel').focus();
  }

  /** Says anew what the order would do; to be called whenever the page has changed. */
  refresh() {
    if (this.#order === null) return;
    const question = this.#order.question();
    if (question !== null) {
      setText(byId('confirm-title'), question.title);
      setText(byId('confirm-effect'), question.effect);
      setText(this.#go, this.#isBusy ? 'Asking the gateway …' : question.verb);
      showFacts(question.facts);
    }
    const warning = this.#isLost()
      ? 'The gateway does not answer; what is shown here is old.'
      : (question ?? { warning: GONE }).warning;
    setText(byId('confirm-warning'), warning ?? '');
    setHidden(byId('confirm-warning'), warning === null);
    this.#go.disabled = this.#isBusy || question === null || this.#isLost();
  }

  async #give() {
    const order = this.#order;
    if (order === null || this.#go.disabled) return;
    const verb = order.question()?.verb ?? '';
    this.#isBusy = true;
    this.refresh();
    const reply = await order.order(this.#reason.value.trim());
    this.#isBusy = false;
    if (reply.kind === 'done') {
      if (this.#order === order) this.#dialog.close();
      order.onDone(verb);
    } else if (this.#order === order) {
      setText(
        byId('confirm-error'),
        `It was not done: ${'detail' in reply ? reply.detail : 'an answer of another kind'}`,
      );
      this.refresh();
    }
  }
}

/** @param {readonly string[]} facts */
function showFacts(facts) {
  const list = byId('confirm-facts');
  facts.forEach((fact, at) => {
    const item = list.children[at] ?? list.appendChild(element('li'));
    setText(item, fact);
  });
  while (list.children.length > facts.length) list.lastElementChild?.remove();
}

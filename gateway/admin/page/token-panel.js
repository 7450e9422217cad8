// Asks for the token of the admin address when the gateway wants one.
import { byId, kindById, setHidden, setText } from './dom.js';

export class TokenPanel {
  #panel = byId('token-panel');
  #input = kindById('token', HTMLInputElement);

  /** @param {{ onToken: (token: string) => void }} options */
  constructor({ onToken }) {
    byId('token-form').addEventListener('submit', (event) => {
      event.preventDefault();
      const token = this.#input.value.trim();
      this.#input.value = '';
      if (token !== '') onToken(token);
    });
  }

  /** @param {{ isRefused: boolean }} options whether a token was sent, and is not the right one */
  show({ isRefused }) {
    setText(byId('token-error'), isRefused ? 'The gateway refused this token.' : '');
    if (!this.#panel.hidden) return;
    setHidden(this.#panel, false);
    this.#input.focus();
  }

  hide() {
    setHidden(this.#panel, true);
  }
}

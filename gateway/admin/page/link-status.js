// Says whether what is shown is of now: live, paused, or old because the gateway does not answer.
import { byId, setAttribute, setHidden, setText } from './dom.js';
import { clockTime, count, figure, span } from './format.js';

/** Longer than the longest rest between two questions. */
const OLD_MS = 8000;

export class LinkStatus {
  /** @type {number | null} */
  #goodMs = null;
  /** @type {string | null} */
  #trouble = null;
  #isLocked = false;
  #isPaused = false;

  /** Whether the page shows the past because the gateway does not answer. */
  get isLost() {
    return this.#trouble !== null;
  }

  /** @param {{ tookMs: number, size: number, drawnMs: number }} cost of the last answer */
  succeeded({ tookMs, size, drawnMs }) {
    this.#goodMs = Date.now();
    this.#trouble = null;
    setText(byId('cost'), `Answer: ${figure(size / 1000)} kB in ${count(tookMs)} ms, drawn in ${count(drawnMs)} ms.`);
    this.tick();
  }

  /**
   * @param {string} detail what is wrong with the gateway, as a sentence
   * @param {{ isLocked: boolean }} options whether it only wants a token
   */
  failed(detail, { isLocked }) {
    this.#trouble = detail;
    this.#isLocked = isLocked;
    this.tick();
  }

  /** @param {boolean} isPaused */
  setPaused(isPaused) {
    this.#isPaused = isPaused;
    this.tick();
  }

  /** Says anew how old it is. */
  tick() {
    const ageMs = this.#goodMs === null ? null : Date.now() - this.#goodMs;
    const { kind, text } = this.#standing(ageMs);
    setAttribute(document.body, 'data-link', kind);
    setText(byId('link'), text);
    const alarm = this.#alarm();
    setHidden(byId('alarm'), alarm === '');
    setText(byId('alarm'), alarm);
  }

  /** The same from one second to the next, so that it is read out once. */
  #alarm() {
    if (this.#trouble === null || (this.#isLocked && this.#goodMs === null)) return '';
    const known = this.#goodMs === null ? '' : ` What is shown is of ${clockTime(this.#goodMs, Date.now())}.`;
    return `The gateway does not answer: ${this.#trouble}.${known}`;
  }

  /**
   * @param {number | null} ageMs
   * @returns {{ kind: 'waiting' | 'live' | 'paused' | 'old' | 'lost', text: string }}
   */
  #standing(ageMs) {
    if (ageMs === null && this.#isLocked) return { kind: 'waiting', text: 'token needed' };
    if (ageMs === null) return { kind: this.#trouble === null ? 'waiting' : 'lost', text: 'no answer yet' };
    const age = `${span(ageMs)} old`;
    if (this.#trouble !== null) return { kind: 'lost', text: `no answer, ${age}` };
    if (this.#isPaused) return { kind: 'paused', text: `paused, ${age}` };
    return ageMs > OLD_MS ? { kind: 'old', text: age } : { kind: 'live', text: 'live' };
  }
}

// What the filter lets through: services, and endpoints of those that are open.
/** @import { Endpoint, Service } from './document.ts' */
import { count } from './format.js';

export class Sieve {
  #words;
  #onlyTrouble;
  #troubled;

  /**
   * @param {{ filter: string, onlyTrouble: boolean, troubled: ReadonlySet<string | null> }} options `troubled` names the
   * services that need attention
   */
  constructor({ filter, onlyTrouble, troubled }) {
    this.#words = filter.trim().toLowerCase();
    this.#onlyTrouble = onlyTrouble;
    this.#troubled = troubled;
  }

  /**
   * A service passes by its name or by one of its endpoints.
   * @param {Service} service
   */
  passes(service) {
    if (this.#onlyTrouble && !this.#troubled.has(service.service)) return false;
    return this.#isNamed(service) || service.endpoints.some((endpoint) => this.#matches(endpoint));
  }

  /**
   * All endpoints of a service that passes by its name, else those that the filter names; of these the ones that are
   * not simply active, when only trouble is asked for.
   * @param {Service} service
   */
  endpointsOf(service) {
    const named = this.#isNamed(service) ? service.endpoints : service.endpoints.filter((each) => this.#matches(each));
    return this.#onlyTrouble ? named.filter(({ state }) => state !== 'active') : named;
  }

  /** @param {Service} service */
  #isNamed({ service }) {
    return this.#words === '' || service.toLowerCase().includes(this.#words);
  }

  /** @param {Endpoint} endpoint */
  #matches({ endpoint, instances, tags }) {
    return [endpoint, ...instances, ...tags].some((text) => text.toLowerCase().includes(this.#words));
  }
}

/**
 * How many there are, and how many of them are seen.
 * @param {number} seen
 * @param {number} all
 */
export function seenOf(seen, all) {
  return seen === all ? count(all) : `${count(seen)} of ${count(all)}`;
}

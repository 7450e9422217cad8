// What an open service shows: its facts, its plots, maintenance by hand, and the table of its endpoints.
/** @import { Endpoint, Service, View } from './document.ts' */
/** @import { EndpointAction } from './orders.js' */
/** @import { Sieve } from './sieve.js' */
import { element, setText, syncParts } from './dom.js';
import { ENDPOINT_COLUMNS, EndpointRow } from './endpoint-row.js';
import { clockTime, figure, since, span, until } from './format.js';
import { Plot } from './plot.js';
import { seenOf } from './sieve.js';
import { table } from './table.js';

/**
 * @typedef {{
 *   readonly onAction: (action: EndpointAction, service: string, endpoint: string) => void,
 *   readonly onMaintenance: (service: string, isOn: boolean) => void,
 * }} Orders
 */

const FACTS = ['Source', 'Last good answer', 'Last error', 'Fallback', 'Breaker', 'Balancing', 'Unusable records'];

export class ServiceDetail {
  #service;
  #orders;
  #refuge;
  /** @type {Map<string, EndpointRow>} */
  #rows = new Map();
  #body = element('tbody', { role: 'rowgroup' });
  #tableCaption = element('caption');
  /** @type {Map<string, HTMLElement>} */
  #facts = new Map(FACTS.map((name) => [name, element('dd')]));
  #maintenance = element('button', { type: 'button' });
  #isInMaintenance = false;
  #traffic = new Plot({
    name: 'Requests and failures a second',
    height: 56,
    area: (moment) => moment.requestsPerSecond,
    bars: (moment) => moment.failuresPerSecond,
  });
  #caption = element('figcaption');

  /**
   * @param {string} service
   * @param {{ orders: Orders, refuge: HTMLElement }} options `refuge` gets the focus of what goes away
   */
  constructor(service, { orders, refuge }) {
    this.#service = service;
    this.#orders = orders;
    this.#refuge = refuge;
    this.#maintenance.addEventListener('click', () => orders.onMaintenance(service, !this.#isInMaintenance));
    const facts = element('dl', { class: 'facts' });
    for (const [name, value] of this.#facts) facts.append(element('div', {}, element('dt', {}, name), value));
    const endpoints = table({ kind: 'endpoints', caption: this.#tableCaption, columns: ENDPOINT_COLUMNS }, this.#body);
    const plot = element('figure', { class: 'traffic' }, this.#caption);
    plot.prepend(this.#traffic.root);
    this.root = element('div', { class: 'detail' }, facts, plot, endpoints);
    this.root.append(element('p', { class: 'service-actions' }, this.#maintenance));
  }

  /**
   * @param {Service} service
   * @param {View} view
   * @param {Sieve} sieve
   */
  update(service, view, sieve) {
    for (const [name, text] of factsOf(service, view)) {
      const value = this.#facts.get(name);
      if (value !== undefined) setText(value, text);
    }
    this.#isInMaintenance = service.maintenance !== null;
    setText(this.#maintenance, `${this.#isInMaintenance ? 'End' : 'Begin'} maintenance of ${service.service}`);
    const peak = this.#traffic.draw(view.meter.serviceMoments(service.service), view.nowMs);
    setText(this.#caption, `Requests/s, failures/s as bars; last 2 min, peak ${figure(peak)}`);
    const seen = sieve.endpointsOf(service);
    const { length } = service.endpoints;
    setText(this.#tableCaption, `Endpoints of ${service.service} (${seenOf(seen.length, length)})`);
    this.#updateRows(service, view, seen);
  }

  /**
   * @param {Service} service
   * @param {View} view
   * @param {readonly Endpoint[]} seen
   */
  #updateRows(service, view, seen) {
    /** @type {Map<string, Endpoint>} */
    const values = new Map(inOrder(seen).map((endpoint) => [endpoint.endpoint, endpoint]));
    syncParts({
      parent: this.#body,
      parts: this.#rows,
      values,
      make: (key) => new EndpointRow(key, (action, endpoint) => this.#orders.onAction(action, this.#service, endpoint)),
      refuge: this.#refuge,
    });
    const weights = service.endpoints.reduce((sum, { effectiveWeight }) => sum + effectiveWeight, 0);
    for (const [key, endpoint] of values) this.#rows.get(key)?.update(endpoint, { service, view, weights });
  }
}

/**
 * @param {Service} service
 * @param {View} view
 * @returns {readonly (readonly [string, string])[]}
 */
function factsOf(service, { gatewayMs }) {
  const { source, index, lastSuccess, ageSeconds, lastError, breaker, breakerUntil, policy, skippedRecords } = service;
  const age = ageSeconds === null ? '' : ` (${span(ageSeconds * 1000)} ago)`;
  return [
    ['Source', index === null ? source : `${source}, index ${index}`],
    ['Last good answer', lastSuccess === null ? 'never' : `${clockTime(Date.parse(lastSuccess), gatewayMs)}${age}`],
    ['Last error', lastError ?? 'none'],
    ['Fallback', fallbackOf(service, gatewayMs)],
    ['Breaker', `${breaker.replace('_', '-')}${breakerUntil === null ? '' : ` ${until(breakerUntil, gatewayMs)}`}`],
    ['Balancing', policy],
    ['Unusable records', String(skippedRecords)],
  ];
}

/**
 * @param {Service} service
 * @param {number} nowMs
 */
function fallbackOf({ maintenance, degradedSince, degradedReason }, nowMs) {
  const parts = [];
  if (degradedSince !== null) {
    parts.push(`serves ${since(degradedSince, nowMs)}${degradedReason === null ? '' : `, reason: ${degradedReason}`}`);
  }
  if (maintenance !== null) {
    const from = maintenance.since === null ? '' : ` ${since(maintenance.since, nowMs)}`;
    parts.push(`maintenance by hand${from}${maintenance.reason ? `: ${maintenance.reason}` : ''}`);
  }
  return parts.length === 0 ? 'not in use' : parts.join('; ');
}

/**
 * By address, as people count.
 * @param {readonly Endpoint[]} endpoints
 */
function inOrder(endpoints) {
  return endpoints.toSorted((one, other) => COLLATOR.compare(one.endpoint, other.endpoint));
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

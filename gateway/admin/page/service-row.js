// One service of the table: a row of figures, and below it, while it is open, everything else.
/** @import { Service, View } from './document.ts' */
/** @import { Orders } from './service-detail.js' */
/** @import { Sieve } from './sieve.js' */
import { Badges } from './badges.js';
import { element, setAttribute, setText } from './dom.js';
import { count, figure, milliseconds, percent, span } from './format.js';
import { isInUse, serviceBadges, worst } from './levels.js';
import { Plot } from './plot.js';
import { ServiceDetail } from './service-detail.js';
import { labelledCell } from './table.js';

/** @type {readonly import('./table.js').Column[]} */
export const SERVICE_COLUMNS = [
  { name: 'Service' },
  { name: 'State' },
  { name: 'In use', hint: 'Endpoints that get requests', isNumber: true },
  { name: 'Requests/s', hint: 'Attempts in the last 10 s; the plot shows 2 minutes, failures as bars', isNumber: true },
  { name: 'Failures/s', hint: 'Failed attempts in the last 10 s', isNumber: true },
  { name: 'In flight', hint: 'Requests that its endpoints are working on', isNumber: true },
  { name: 'Latency', hint: 'Mean of its endpoints, to the response head', isNumber: true },
  { name: 'Source age', hint: 'How old the last good answer of its source is', isNumber: true },
];

export class ServiceRow {
  #service;
  #orders;
  #onToggle;
  #badges = new Badges();
  #cells = {
    use: labelledCell('In use'),
    failures: labelledCell('Failures/s'),
    inFlight: labelledCell('In flight'),
    latency: labelledCell('Latency'),
    age: labelledCell('Source age'),
  };
  #requests = element('span', { class: 'spark-figure' });
  #plot = new Plot({
    name: 'Requests and failures a second',
    height: 24,
    area: (moment) => moment.requestsPerSecond,
    bars: (moment) => moment.failuresPerSecond,
  });
  #detailCell = element('td', { colspan: String(SERVICE_COLUMNS.length), role: 'cell' });
  #detailRow = element('tr', { role: 'row', hidden: true, class: 'detail-row' }, this.#detailCell);
  /** @type {ServiceDetail | null} */
  #detail = null;

  /**
   * @param {string} service
   * @param {{ id: string, orders: Orders, onToggle: () => void }} options
   */
  constructor(service, { id, orders, onToggle }) {
    this.#service = service;
    this.#orders = orders;
    this.#onToggle = onToggle;
    this.#detailRow.id = id;
    this.toggle = element('button', { type: 'button', class: 'toggle', 'aria-expanded': 'false', 'aria-controls': id });
    this.toggle.append(element('span', { class: 'name' }, service));
    this.toggle.addEventListener('click', () => this.setOpen(!this.isOpen));
    this.root = element('tbody', { class: 'service', role: 'rowgroup' }, this.#summary(), this.#detailRow);
  }

  get isOpen() {
    return !this.#detailRow.hidden;
  }

  /** @param {boolean} isOpen */
  setOpen(isOpen) {
    if (isOpen === this.isOpen) return;
    this.#detailRow.hidden = !isOpen;
    this.toggle.setAttribute('aria-expanded', String(isOpen));
    this.#detail = isOpen ? new ServiceDetail(this.#service, { orders: this.#orders, refuge: this.toggle }) : null;
    this.#detailCell.replaceChildren(...(this.#detail === null ? [] : [this.#detail.root]));
    this.#onToggle();
  }

  /**
   * @param {Service} service
   * @param {View} view
   * @param {Sieve} sieve
   */
  update(service, view, sieve) {
    const { meter } = view;
    const rate = meter.serviceRate(service.service);
    const { use, failures, inFlight, latency, age } = this.#cells;
    const inUse = service.endpoints.filter(isInUse).length;
    const badges = serviceBadges(service);
    setAttribute(this.root, 'data-level', worst(badges.map(({ level }) => level)));
    this.#badges.update(badges);
    setText(use, `${count(inUse)} of ${count(service.endpoints.length)}`);
    setText(this.#requests, figure(rate?.requestsPerSecond ?? null));
    this.#plot.draw(meter.serviceMoments(service.service), view.nowMs);
    const share =
      rate === null || rate.failures === 0 ? '' : ` (${percent(rate.failures / Math.max(rate.requests, 1))})`;
    setText(failures, `${figure(rate?.failuresPerSecond ?? null)}${share}`);
    setAttribute(failures, 'class', share === '' ? 'number' : 'number failing');
    setText(inFlight, count(service.endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0)));
    setText(latency, milliseconds(latencyOf(service, view)));
    setText(age, service.ageSeconds === null ? 'never' : span(service.ageSeconds * 1000));
    this.#detail?.update(service, view, sieve);
  }

  #summary() {
    const name = element('th', { scope: 'row', role: 'rowheader', class: 'service-name' }, this.toggle);
    const state = element('td', { class: 'standing', role: 'cell' }, this.#badges.root);
    const requests = element('td', { class: 'number spark', role: 'cell', 'data-label': 'Requests/s' });
    requests.append(this.#plot.root, this.#requests);
    const { use, failures, inFlight, latency, age } = this.#cells;
    return element(
      'tr',
      { role: 'row', class: 'summary' },
      name,
      state,
      use,
      requests,
      failures,
      inFlight,
      latency,
      age,
    );
  }
}

/**
 * The mean of its endpoints, by what each of them answers.
 * @param {Service} service
 * @param {View} view
 */
function latencyOf({ service, endpoints }, { meter }) {
  let sum = 0;
  let weights = 0;
  for (const { endpoint, latencyMs } of endpoints) {
    if (latencyMs === null) continue;
    const weight = meter.endpointRate(service, endpoint)?.requests ?? 0;
    sum += latencyMs * weight;
    weights += weight;
  }
  return weights === 0 ? null : sum / weights;
}

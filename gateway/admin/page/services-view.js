// The table of all services, with its filter; only what is open is drawn in full.
/** @import { Problem, Service, View } from './document.ts' */
/** @import { Orders } from './service-detail.js' */
import { byId, element, kindById, setHidden, setText, syncParts } from './dom.js';
import { readPlace, writePlace } from './place.js';
import { SERVICE_COLUMNS, ServiceRow } from './service-row.js';
import { Sieve, seenOf } from './sieve.js';
import { table } from './table.js';

const COLLATOR = new Intl.Collator('en', { numeric: true });

export class ServicesView {
  #orders;
  #table = table({
    kind: 'services',
    caption: element('caption', { class: 'unseen' }, 'All services; each opens to show its endpoints'),
    columns: SERVICE_COLUMNS,
  });
  #filter = kindById('filter', HTMLInputElement);
  #onlyTrouble = kindById('only-trouble', HTMLInputElement);
  /** @type {Map<string, ServiceRow>} */
  #rows = new Map();
  /** What the address wants open and is not there yet. @type {Set<string>} */
  #wanted = new Set();
  #lastId = 0;
  /** @type {{ view: View, problems: readonly Problem[] } | null} */
  #shown = null;

  /** @param {Orders} orders */
  constructor(orders) {
    this.#orders = orders;
    byId('services').append(this.#table);
    this.#goTo();
    for (const input of [this.#filter, this.#onlyTrouble]) input.addEventListener('input', () => this.#changed());
    addEventListener('hashchange', () => {
      this.#goTo();
      this.#redraw();
    });
  }

  /**
   * @param {View} view
   * @param {readonly Problem[]} problems
   */
  update(view, problems) {
    this.#shown = { view, problems };
    const services = view.document.services.toSorted((one, other) => COLLATOR.compare(one.service, other.service));
    syncParts({
      parent: this.#table,
      after: this.#table.tHead,
      parts: this.#rows,
      values: new Map(services.map((service) => [service.service, service])),
      make: (name) => this.#makeRow(name),
      refuge: this.#filter,
    });
    for (const name of this.#wanted) {
      const row = this.#rows.get(name);
      if (row !== undefined) this.#wanted.delete(name);
      row?.setOpen(true);
    }
    this.#draw(services, view, problems);
  }

  /**
   * Opens a service and takes the reader there.
   * @param {string} service
   */
  show(service) {
    const row = this.#rows.get(service);
    if (row === undefined) return;
    if (row.root.hidden) {
      this.#filter.value = '';
      this.#onlyTrouble.checked = false;
    }
    row.setOpen(true);
    this.#changed();
    row.toggle.focus({ preventScroll: true });
    row.root.scrollIntoView({ block: 'start' });
  }

  /**
   * @param {readonly Service[]} services
   * @param {View} view
   * @param {readonly Problem[]} problems
   */
  #draw(services, view, problems) {
    const sieve = new Sieve({
      filter: this.#filter.value,
      onlyTrouble: this.#onlyTrouble.checked,
      troubled: new Set(problems.map(({ service }) => service)),
    });
    let seen = 0;
    for (const service of services) {
      const row = this.#rows.get(service.service);
      if (row === undefined) continue;
      const isSeen = sieve.passes(service);
      setHidden(row.root, !isSeen);
      if (!isSeen) continue;
      seen++;
      row.update(service, view, sieve);
    }
    setText(byId('service-count'), seenOf(seen, services.length));
    setHidden(byId('no-service'), seen > 0);
    setText(byId('no-service'), services.length === 0 ? 'No route names a service.' : 'No service matches.');
  }

  /** @param {string} name */
  #makeRow(name) {
    return new ServiceRow(name, {
      id: `service-${++this.#lastId}`,
      orders: this.#orders,
      onToggle: () => this.#changed(),
    });
  }

  #goTo() {
    const { filter, onlyTrouble, open } = readPlace();
    this.#filter.value = filter;
    this.#onlyTrouble.checked = onlyTrouble;
    this.#wanted = new Set(open);
  }

  #changed() {
    const open = [...this.#rows].filter(([, row]) => row.isOpen).map(([name]) => name);
    writePlace({
      filter: this.#filter.value.trim(),
      onlyTrouble: this.#onlyTrouble.checked,
      open: [...open, ...this.#wanted].toSorted(COLLATOR.compare),
    });
    this.#redraw();
  }

  #redraw() {
    if (this.#shown !== null) this.update(this.#shown.view, this.#shown.problems);
  }
}

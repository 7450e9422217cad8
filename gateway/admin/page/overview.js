// The gateway at a glance: its live plots, its leader and its workers.
/** @import { Endpoint, Listener, View, Worker } from './document.ts' */
import { badge } from './badges.js';
import { byId, element, setText, syncParts } from './dom.js';
import { clockTime, count, figure, milliseconds, percent, span } from './format.js';
import { isInUse } from './levels.js';
import { Plot } from './plot.js';
import { labelledCell, table } from './table.js';

const PLOT_HEIGHT = 48;

/** @type {readonly import('./table.js').Column[]} */
const WORKER_COLUMNS = [
  { name: 'Worker' },
  { name: 'Role' },
  { name: 'Snapshot', hint: 'The newest that it routes by', isNumber: true },
  { name: 'Connections', hint: 'Of clients', isNumber: true },
  { name: 'Loop lag', hint: 'How late its event loop is', isNumber: true },
];

export class Overview {
  #requests = plotIn('plot-requests', {
    name: 'Requests a second',
    height: PLOT_HEIGHT,
    area: (moment) => moment.requestsPerSecond,
  });
  #failures = plotIn('plot-failures', {
    name: 'Failures a second',
    height: PLOT_HEIGHT,
    bars: (moment) => moment.failuresPerSecond,
  });
  #inFlight = plotIn('plot-in-flight', {
    name: 'Requests in flight',
    height: PLOT_HEIGHT,
    area: (moment) => moment.inFlight,
  });
  #workers = element('tbody', { role: 'rowgroup' });
  /** @type {Map<string, WorkerRow>} */
  #rows = new Map();

  constructor() {
    const caption = element('caption', { class: 'unseen' }, 'Workers');
    byId('workers').append(table({ kind: 'workers', caption, columns: WORKER_COLUMNS }, this.#workers));
  }

  /** @param {View} view */
  update(view) {
    const { gateway, snapshot, services } = view.document;
    this.#updateTiles(view);
    const endpoints = services.flatMap((service) => service.endpoints);
    setText(byId('out-of-use'), statesOf(endpoints));
    setText(byId('in-use'), `${count(endpoints.filter(isInUse).length)} of ${count(endpoints.length)}`);
    const healthy = services.filter(({ state }) => state === 'healthy').length;
    setText(byId('healthy-services'), `${count(healthy)} of ${count(services.length)} services healthy`);
    setText(
      byId('gateway'),
      `version ${gateway.version}, process ${gateway.pid}, up ${span(gateway.uptimeSeconds * 1000)}`,
    );
    const { worker, term } = gateway.leader;
    setText(byId('leader'), worker === null ? `nobody leads (term ${term})` : `worker ${worker} leads, term ${term}`);
    const taken = snapshot.takenAt === null ? '' : ` at ${clockTime(Date.parse(snapshot.takenAt), view.gatewayMs)}`;
    setText(
      byId('snapshot'),
      `snapshot ${snapshot.version}${snapshot.from === null ? '' : ` from ${snapshot.from}`}${taken}`,
    );
    setText(byId('listeners'), (gateway.listeners ?? []).map(listenerText).join('; '));
    syncParts({
      parent: this.#workers,
      parts: this.#rows,
      values: new Map(gateway.workers.map((each) => [String(each.id), each])),
      make: (id) => new WorkerRow(id),
    });
    for (const each of gateway.workers) this.#rows.get(String(each.id))?.update(each, snapshot.version);
  }

  /** @param {View} view */
  #updateTiles({ meter, nowMs }) {
    const rate = meter.totalRate();
    const moments = meter.totalMoments();
    setText(byId('requests'), figure(rate?.requestsPerSecond ?? null));
    const share = rate === null ? null : rate.failures / Math.max(rate.requests, 1);
    setText(byId('failures'), figure(rate?.failuresPerSecond ?? null));
    setText(byId('failure-share'), share === null || share === 0 ? '' : `${percent(share)} of the requests`);
    byId('failures').classList.toggle('failing', (rate?.failures ?? 0) > 0);
    setText(byId('in-flight'), figure(moments.at(-1)?.inFlight ?? null));
    setText(byId('peak-requests'), `peak ${figure(this.#requests.draw(moments, nowMs))}`);
    setText(byId('peak-failures'), `peak ${figure(this.#failures.draw(moments, nowMs))}`);
    setText(byId('peak-in-flight'), `peak ${figure(this.#inFlight.draw(moments, nowMs))}`);
  }
}

class WorkerRow {
  #role = labelledCell('Role', false);
  #snapshot = labelledCell('Snapshot');
  #connections = labelledCell('Connections');
  #lag = labelledCell('Loop lag');

  /** @param {string} id */
  constructor(id) {
    const name = element('th', { scope: 'row', role: 'rowheader' }, `worker ${id}`);
    this.root = element('tr', { role: 'row' }, name, this.#role, this.#snapshot, this.#connections, this.#lag);
  }

  /**
   * @param {Worker} worker
   * @param {number} newest the newest snapshot there is
   */
  update({ leader, snapshot, connections, eventLoopLagMs }, newest) {
    if (this.#role.childElementCount > 0 !== leader) {
      this.#role.replaceChildren(...(leader ? [badge({ level: 'ok', text: 'leader' })] : []));
    }
    setText(this.#snapshot, snapshot < newest ? `${snapshot}, behind` : String(snapshot));
    setText(this.#connections, count(connections));
    setText(this.#lag, milliseconds(eventLoopLagMs));
  }
}

/** How many certificates of a listener are named. */
const NAMED = 3;

/**
 * A listener with its certificates, the ones that expire first.
 * @param {Listener} listener
 */
function listenerText({ address, tls, certificates }) {
  if (!tls) return address;
  const served = certificates.filter(({ notAfter }) => notAfter !== null);
  const sorted = served.toSorted((a, b) => String(a.notAfter).localeCompare(String(b.notAfter)));
  const named = sorted.slice(0, NAMED).map(({ names, notAfter }) => {
    return `${names.join(', ')} until ${String(notAfter).slice(0, 10)}`;
  });
  const more = served.length > NAMED ? `, and ${served.length - NAMED} more` : '';
  return `${address} TLS (${named.join(', ')}${more})`;
}

/**
 * How many are in which state, less those that are as they should be.
 * @param {readonly Endpoint[]} endpoints
 */
function statesOf(endpoints) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  for (const { state } of endpoints) if (state !== 'active') numbers.set(state, (numbers.get(state) ?? 0) + 1);
  return [...numbers].map(([state, number]) => `${count(number)} ${state}`).join(', ');
}

/**
 * @param {string} id
 * @param {import('./plot.js').PlotOptions} options
 */
function plotIn(id, options) {
  const plot = new Plot(options);
  byId(id).append(plot.root);
  return plot;
}

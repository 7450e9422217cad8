// One endpoint of an open service: its figures, why it is not in use and until when, and what can be done.
/** @import { Endpoint, Service, View } from './document.ts' */
/** @import { EndpointAction } from './orders.js' */
import { Badges } from './badges.js';
import { drawing, element, setAttribute, setHidden, setText } from './dom.js';
import { count, figure, milliseconds, percent, until } from './format.js';
import { endpointBadge } from './levels.js';
import { ACTION_ORDER, actionsFor, shareOf, verbOf } from './orders.js';
import { labelledCell } from './table.js';

/** @typedef {(action: EndpointAction, endpoint: string) => void} OnAction */

/** The columns of the table, with what they mean; the names stand before the figures on a narrow screen. */
export const ENDPOINT_COLUMNS = [
  { name: 'Endpoint', hint: 'Address and port, then its instances, tags and meta' },
  { name: 'State', hint: 'Why it is not in use, and until when' },
  { name: 'Weight', hint: 'What it is chosen by now, and of which weight', isNumber: true },
  {
    name: 'Share',
    hint: 'Of the traffic of the service in the last 10 s; the line shows what its weight asks for',
    isNumber: true,
  },
  { name: 'Requests/s', hint: 'Attempts at it in the last 10 s', isNumber: true },
  { name: 'Failures/s', hint: 'Failed attempts in the last 10 s, and all since its start', isNumber: true },
  { name: 'In flight', hint: 'Requests that it is working on', isNumber: true },
  { name: 'Latency', hint: 'Moving average of the time to the response head', isNumber: true },
  { name: 'Actions', hint: 'Each asks before it acts' },
];

const BAR_WIDTH = 60;

export class EndpointRow {
  #state = new Badges();
  #why = element('span', { class: 'why' });
  #until = element('span', { class: 'until' });
  #about = element('span', { class: 'about' });
  #cells = {
    weight: labelledCell('Weight'),
    share: labelledCell('Share'),
    requests: labelledCell('Requests/s'),
    failures: labelledCell('Failures/s'),
    inFlight: labelledCell('In flight'),
    latency: labelledCell('Latency'),
  };
  #failures = element('span');
  #allFailures = element('span', { class: 'about' });
  #shareText = element('span');
  #shareBar = drawing('rect', { class: 'bar-fill', height: '8', y: '1' });
  #shareMark = drawing('path', { class: 'bar-mark' });
  /** @type {Map<EndpointAction, HTMLButtonElement>} */
  #buttons = new Map();
  #actions = element('td', { class: 'actions', role: 'cell' });

  /**
   * @param {string} endpoint
   * @param {OnAction} onAction
   */
  constructor(endpoint, onAction) {
    for (const action of ACTION_ORDER) {
      const button = element(
        'button',
        { type: 'button', 'aria-label': `${verbOf(action)} ${endpoint}` },
        verbOf(action),
      );
      button.addEventListener('click', () => onAction(action, endpoint));
      this.#buttons.set(action, button);
    }
    this.#actions.append(...this.#buttons.values());
    this.#cells.failures.append(this.#failures, this.#allFailures);
    this.#cells.share.append(this.#shareText, shareBar(this.#shareBar, this.#shareMark));
    const name = element('th', { scope: 'row', role: 'rowheader', class: 'endpoint' });
    name.append(element('span', { class: 'address' }, endpoint), this.#about);
    const state = element(
      'td',
      { class: 'standing', role: 'cell' },
      this.#state.root,
      ' ',
      this.#why,
      ' ',
      this.#until,
    );
    const { weight, share, requests, failures, inFlight, latency } = this.#cells;
    this.root = element('tr', { role: 'row' });
    this.root.append(name, state, weight, share, requests, failures, inFlight, latency, this.#actions);
  }

  /**
   * @param {Endpoint} endpoint
   * @param {{ service: Service, view: View, weights: number }} around `weights` is the sum of those in force
   */
  update(endpoint, { service, view, weights }) {
    const { effectiveWeight, weight } = endpoint;
    const rate = view.meter.endpointRate(service.service, endpoint.endpoint);
    const { weight: weightCell, requests, failures, inFlight, latency } = this.#cells;
    this.#state.update([endpointBadge(endpoint)]);
    setText(this.#why, endpoint.why ?? '');
    setText(this.#until, endpoint.until === null ? '' : until(endpoint.until, view.gatewayMs));
    setText(this.#about, aboutOf(endpoint));
    setText(weightCell, effectiveWeight === weight ? String(weight) : `${effectiveWeight} of ${weight}`);
    this.#drawShare(
      shareOf(rate, view.meter.serviceRate(service.service)),
      weights === 0 ? 0 : effectiveWeight / weights,
    );
    setText(requests, figure(rate?.requestsPerSecond ?? null));
    setText(this.#failures, figure(rate?.failuresPerSecond ?? null));
    setText(this.#allFailures, allFailuresOf(endpoint));
    setAttribute(failures, 'class', (rate?.failures ?? 0) > 0 ? 'number failing' : 'number');
    setText(inFlight, count(endpoint.inFlight));
    setText(latency, milliseconds(endpoint.latencyMs));
    this.#offer(actionsFor(endpoint));
  }

  /**
   * @param {number | null} share
   * @param {number} wanted
   */
  #drawShare(share, wanted) {
    setText(this.#shareText, percent(share));
    setAttribute(this.#shareBar, 'width', ((share ?? 0) * BAR_WIDTH).toFixed(1));
    const x = (wanted * (BAR_WIDTH - 2) + 1).toFixed(1);
    setAttribute(this.#shareMark, 'd', wanted === 0 ? '' : `M${x} 0V10`);
    setAttribute(this.#cells.share, 'title', `its weight asks for ${percent(wanted)}`);
  }

  /** @param {readonly EndpointAction[]} actions */
  #offer(actions) {
    const focused = document.activeElement;
    for (const [action, button] of this.#buttons) setHidden(button, !actions.includes(action));
    // A button that is no longer offered hands its focus to what took its place.
    const hasLost = focused instanceof HTMLButtonElement && this.#actions.contains(focused) && focused.hidden;
    if (hasLost) this.#buttons.get(actions[0] ?? 'restore')?.focus();
  }
}

/**
 * @param {SVGRectElement} fill
 * @param {SVGPathElement} mark
 */
function shareBar(fill, mark) {
  const back = drawing('rect', { class: 'bar-back', width: String(BAR_WIDTH), height: '8', y: '1' });
  const attributes = {
    class: 'bar',
    viewBox: `0 0 ${BAR_WIDTH} 10`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  };
  return drawing('svg', attributes, back, fill, mark);
}

/** @param {Endpoint} endpoint */
function aboutOf({ instances, tags, meta, status }) {
  const parts = [instances.join(', '), ...tags, ...Object.entries(meta).map(([key, value]) => `${key}=${value}`)];
  return [...parts, status === 'passing' ? '' : status].filter((part) => part !== '').join(' · ');
}

/** @param {Endpoint} endpoint */
function allFailuresOf({ failures, ejections }) {
  if (failures === 0) return '';
  return `${count(failures)} in all${ejections === 0 ? '' : `, ejected ${count(ejections)}×`}`;
}

// The live page of /debug/upstreams: asks the gateway, and lets every part draw what it said.
/** @import { Reply, UpstreamsDocument, View } from './document.ts' */
/** @import { EndpointAction } from './orders.js' */
import { Attention, ChangeList } from './attention.js';
import { changesOf } from './changes.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { byId, setAttribute, setHidden, setText } from './dom.js';
import { GatewayClient } from './gateway-client.js';
import { LinkStatus } from './link-status.js';
import { endpointPath, endpointQuestion, maintenancePath, maintenanceQuestion } from './orders.js';
import { Overview } from './overview.js';
import { Poller } from './poller.js';
import { problemsOf } from './problems.js';
import { Rates } from './rates.js';
import { ServicesView } from './services-view.js';
import { TokenPanel } from './token-panel.js';

/** A clock that is this far from the gateway's is taken for wrong. */
const CLOCK_TOLERANCE_MS = 2000;
const TICK_MS = 1000;

const client = new GatewayClient();
const rates = new Rates();
const link = new LinkStatus();
const overview = new Overview();
const changes = new ChangeList();
const dialog = new ConfirmDialog({ isLost: () => link.isLost });
const services = new ServicesView({ onAction: orderEndpoint, onMaintenance: orderMaintenance });
const attention = new Attention({ onShow: (service) => services.show(service) });
const poller = new Poller({ ask: () => client.ask(), onReply: take });
const tokenPanel = new TokenPanel({
  onToken: (token) => {
    client.setToken(token);
    void poller.askNow();
  },
});
/** @type {UpstreamsDocument | null} */
let shown = null;
let urgentProblems = 0;

setText(byId('place'), location.host);
listenToButtons();
setInterval(() => link.tick(), TICK_MS);
poller.start();

/**
 * Draws what came, and says whether to go on asking: without its token it is of no use.
 * @param {Reply} reply
 */
function take(reply) {
  if (reply.kind === 'document') {
    const beganMs = performance.now();
    draw(reply.document);
    link.succeeded({ tookMs: reply.tookMs, size: reply.size, drawnMs: performance.now() - beganMs });
    tokenPanel.hide();
    setHidden(byId('main'), false);
  } else if (reply.kind === 'unauthorised') {
    tokenPanel.show({ isRefused: client.hasToken });
    client.setToken('');
    link.failed('it wants the token of the admin address', { isLocked: true });
  } else if (reply.kind === 'trouble') {
    link.failed(reply.detail, { isLocked: false });
  }
  setHidden(byId('forget'), !client.hasToken);
  document.title = titleOf(reply);
  dialog.refresh();
  return reply.kind !== 'unauthorised';
}

/** @param {UpstreamsDocument} known */
function draw(known) {
  const nowMs = performance.now();
  rates.look(known, nowMs);
  /** @type {View} */
  const view = { document: known, nowMs, gatewayMs: gatewayTime(known), meter: rates };
  const problems = problemsOf(view);
  overview.update(view);
  urgentProblems = attention.update(problems);
  services.update(view, problems);
  if (shown !== null) changes.add(changesOf(shown, known));
  shown = known;
}

/** @param {Reply} reply */
function titleOf(reply) {
  if (reply.kind !== 'document') return 'No answer – Weir';
  return urgentProblems === 0 ? 'Weir' : `(${urgentProblems}) Weir`;
}

/**
 * The gateway's time of day: the ages and ends that it tells are by its clock, not by the browser's.
 * @param {UpstreamsDocument} known
 */
function gatewayTime({ gateway: { startedAt, uptimeSeconds } }) {
  const nowMs = Date.now();
  if (startedAt === null) return nowMs;
  const gatewayMs = Date.parse(startedAt) + uptimeSeconds * 1000;
  return Math.abs(gatewayMs - nowMs) < CLOCK_TOLERANCE_MS ? nowMs : gatewayMs;
}

/**
 * @param {EndpointAction} action
 * @param {string} service
 * @param {string} endpoint
 */
function orderEndpoint(action, service, endpoint) {
  dialog.ask({
    asksReason: false,
    question: () =>
      endpointQuestion({
        action,
        service: serviceOf(service),
        endpoint,
        rate: rates.endpointRate(service, endpoint),
        serviceRate: rates.serviceRate(service),
      }),
    order: () => client.order(endpointPath(action, service, endpoint), {}),
    onDone: () => done(service, `${action} of ${endpoint}: ordered from this page`),
  });
}

/**
 * @param {string} service
 * @param {boolean} isOn
 */
function orderMaintenance(service, isOn) {
  dialog.ask({
    asksReason: isOn,
    question: () => maintenanceQuestion({ service: serviceOf(service), isOn, serviceRate: rates.serviceRate(service) }),
    order: (reason) => client.order(maintenancePath(service), isOn ? { on: true, reason } : { on: false }),
    onDone: () => done(service, `${isOn ? 'begin' : 'end'} of maintenance: ordered from this page`),
  });
}

/**
 * @param {string} service
 * @param {string} text
 */
function done(service, text) {
  changes.add([{ level: 'info', service, text }]);
  void poller.askNow();
}

/** @param {string} service */
function serviceOf(service) {
  return shown?.services.find((each) => each.service === service);
}

function listenToButtons() {
  const pause = byId('pause');
  pause.addEventListener('click', () => {
    poller.setPaused(!poller.isPaused);
    link.setPaused(poller.isPaused);
    setAttribute(pause, 'aria-pressed', String(poller.isPaused));
  });
  byId('forget').addEventListener('click', () => {
    client.setToken('');
    location.reload();
  });
}

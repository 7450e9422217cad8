// What has changed between two looks at the gateway, in sentences.
/** @import { Change, Endpoint, Service, UpstreamsDocument } from './document.ts' */
import { many } from './format.js';
import { endpointBadge } from './levels.js';

/** More changes of one kind in one pool than this are told as a number. */
const SINGLE_CHANGES = 3;

/**
 * @param {UpstreamsDocument} before
 * @param {UpstreamsDocument} after
 * @returns {Change[]}
 */
export function changesOf(before, after) {
  if (before.gateway.pid !== after.gateway.pid || before.gateway.startedAt !== after.gateway.startedAt) {
    const text = `the gateway was started anew, as process ${after.gateway.pid}; its counters begin at 0`;
    return [{ level: 'warn', service: null, text }];
  }
  const known = new Map(before.services.map((service) => [service.service, service]));
  const present = new Set(after.services.map(({ service }) => service));
  return [
    ...leaderChanges(before, after),
    ...before.services.filter(({ service }) => !present.has(service)).map((service) => ofService(service, 'is gone')),
    ...after.services.flatMap((service) => {
      const previous = known.get(service.service);
      return previous === undefined ? [ofService(service, 'is new')] : serviceChanges(previous, service);
    }),
  ];
}

/**
 * @param {Service} service
 * @param {string} text
 * @param {Change['level']} level
 * @returns {Change}
 */
function ofService({ service }, text, level = 'info') {
  return { level, service, text };
}

/**
 * @param {UpstreamsDocument} before
 * @param {UpstreamsDocument} after
 * @returns {Change[]}
 */
function leaderChanges(before, after) {
  const { worker, term } = after.gateway.leader;
  const previous = before.gateway.leader;
  if (previous.worker === worker && previous.term === term) return [];
  if (worker === null) return [{ level: 'bad', service: null, text: 'no worker leads' }];
  return [{ level: 'warn', service: null, text: `worker ${worker} leads, term ${term}` }];
}

/**
 * @param {Service} before
 * @param {Service} after
 * @returns {Change[]}
 */
function serviceChanges(before, after) {
  /** @type {Change[]} */
  const found = [];
  if (before.state !== after.state) {
    const level = after.state === 'healthy' ? 'ok' : after.state === 'stale' ? 'warn' : 'bad';
    found.push(ofService(after, `${before.state} → ${after.state}`, level));
  }
  if ((before.maintenance === null) !== (after.maintenance === null)) {
    const reason = after.maintenance?.reason ? `: ${after.maintenance.reason}` : '';
    found.push(ofService(after, after.maintenance === null ? 'maintenance ended' : `in maintenance${reason}`));
  }
  if ((before.degradedSince === null) !== (after.degradedSince === null)) {
    const reason = after.degradedReason === null ? '' : ` (${after.degradedReason})`;
    if (after.degradedSince === null) found.push(ofService(after, 'answered from its pool again', 'ok'));
    else found.push(ofService(after, `degraded: answered without the pool${reason}`, 'bad'));
  }
  if (before.breaker !== after.breaker) {
    const level = after.breaker === 'open' ? 'bad' : after.breaker === 'half_open' ? 'warn' : 'ok';
    found.push(ofService(after, `breaker ${after.breaker.replace('_', '-')}`, level));
  }
  return [...found, ...endpointChanges(before, after)];
}

/**
 * @param {Service} before
 * @param {Service} after
 * @returns {Change[]}
 */
function endpointChanges(before, after) {
  const known = new Map(before.endpoints.map((endpoint) => [endpoint.endpoint, endpoint]));
  const present = new Set(after.endpoints.map(({ endpoint }) => endpoint));
  const came = after.endpoints.filter(({ endpoint }) => !known.has(endpoint));
  const gone = before.endpoints.filter(({ endpoint }) => !present.has(endpoint));
  /** @type {Change[]} */
  const moved = after.endpoints.flatMap((endpoint) => {
    const previous = known.get(endpoint.endpoint);
    if (previous === undefined || previous.state === endpoint.state) return [];
    const why = endpoint.why === null ? '' : ` (${endpoint.why})`;
    const text = `${endpoint.endpoint}: ${previous.state} → ${endpoint.state}${why}`;
    return [ofService(after, text, endpointBadge(endpoint).level)];
  });
  return [...listed(after, came, 'came'), ...listed(after, gone, 'went'), ...shortened(after, moved)];
}

/**
 * @param {Service} service
 * @param {readonly Endpoint[]} endpoints
 * @param {string} verb
 * @returns {Change[]}
 */
function listed(service, endpoints, verb) {
  return shortened(
    service,
    endpoints.map(({ endpoint }) => ofService(service, `${endpoint} ${verb}`)),
    verb,
  );
}

/**
 * @param {Service} service
 * @param {Change[]} changes
 * @param {string} verb
 * @returns {Change[]}
 */
function shortened(service, changes, verb = 'changed their state') {
  if (changes.length <= SINGLE_CHANGES) return changes;
  return [ofService(service, `${many(changes.length, 'endpoint')} ${verb}`, changes[0]?.level)];
}

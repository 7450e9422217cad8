// What an operator may order, and what has to be said before it is done.
/** @import { Endpoint, Rate, Service } from './document.ts' */
import { count, many, percent } from './format.js';
import { isInUse } from './levels.js';

/** @typedef {'drain' | 'undrain' | 'eject' | 'restore'} EndpointAction */

/**
 * @typedef {{
 *   readonly title: string,
 *   readonly effect: string,
 *   readonly facts: readonly string[],
 *   readonly warning: string | null,
 *   readonly verb: string,
 * }} Question
 */

/** @type {Readonly<Record<EndpointAction, { readonly verb: string, readonly effect: string }>>} */
const ENDPOINT_ACTIONS = {
  drain: {
    verb: 'Drain',
    effect: 'It gets no new request; what is in flight ends. This holds until somebody undrains it or it is gone.',
  },
  undrain: { verb: 'Undrain', effect: 'It gets its share of new requests again.' },
  eject: {
    verb: 'Eject',
    effect: 'It is set aside at once, whatever its traffic shows. This holds until somebody restores it or it is gone.',
  },
  restore: {
    verb: 'Restore',
    effect: 'It gets requests again at once, whatever had set it aside: its traffic or an operator.',
  },
};

/** @type {readonly EndpointAction[]} */
export const ACTION_ORDER = ['drain', 'undrain', 'eject', 'restore'];

/** @param {EndpointAction} action */
export function verbOf(action) {
  return ENDPOINT_ACTIONS[action].verb;
}

/**
 * What can be done with an endpoint as it stands.
 * @param {Endpoint} endpoint
 * @returns {readonly EndpointAction[]}
 */
export function actionsFor({ state, until }) {
  switch (state) {
    case 'active':
    case 'warming':
      return ['drain', 'eject'];
    case 'probing':
      return ['eject', 'restore'];
    case 'draining':
      return ['undrain', 'eject'];
    case 'ejected':
      // Without an end it is an operator's word already.
      return until === null ? ['restore'] : ['eject', 'restore'];
    case 'unhealthy':
      return ['eject', 'restore'];
  }
}

/**
 * @param {EndpointAction} action
 * @param {string} service
 * @param {string} endpoint
 */
export function endpointPath(action, service, endpoint) {
  return `/debug/upstreams/${encodeURIComponent(service)}/${encodeURIComponent(endpoint)}/${action}`;
}

/** @param {string} service */
export function maintenancePath(service) {
  return `/debug/services/${encodeURIComponent(service)}/degraded`;
}

/**
 * What to ask before an order to an endpoint; null when it is gone.
 * @param {{
 *   action: EndpointAction,
 *   service: Service | undefined,
 *   endpoint: string,
 *   rate: Rate | null,
 *   serviceRate: Rate | null,
 * }} subject
 * @returns {Question | null}
 */
export function endpointQuestion({ action, service, endpoint, rate, serviceRate }) {
  const target = service?.endpoints.find((each) => each.endpoint === endpoint);
  if (service === undefined || target === undefined) return null;
  const { verb, effect } = ENDPOINT_ACTIONS[action];
  const others = service.endpoints.filter((each) => each !== target && isInUse(each)).length;
  const isTaking = action === 'drain' || action === 'eject';
  return {
    title: `${verb} ${endpoint} of ${service.service}?`,
    effect,
    facts: [
      `It is ${target.state}${target.why === null ? '' : `: ${target.why}`}, with ${many(target.inFlight, 'request')} in flight.`,
      `It takes ${percent(shareOf(rate, serviceRate))} of the traffic of ${service.service} now.`,
      `Of the other endpoints ${count(others)} of ${count(service.endpoints.length - 1)} are in use.`,
    ],
    warning: isTaking && others === 0 && isInUse(target) ? lastWarning(service.service) : null,
    verb,
  };
}

/**
 * What to ask before maintenance begins or ends; null when the service is gone.
 * @param {{ service: Service | undefined, isOn: boolean, serviceRate: Rate | null }} subject
 * @returns {Question | null}
 */
export function maintenanceQuestion({ service, isOn, serviceRate }) {
  if (service === undefined) return null;
  const { service: name, endpoints } = service;
  const inUse = endpoints.filter(isInUse).length;
  const pool = `${count(inUse)} of its ${many(endpoints.length, 'endpoint')} ${inUse === 1 ? 'is' : 'are'} in use`;
  const requests =
    serviceRate === null ? '' : `, with ${count(Math.round(serviceRate.requestsPerSecond))} requests a second`;
  return isOn
    ? {
        title: `Put ${name} into maintenance?`,
        effect: 'Every request is answered by the fallback of its route, or 503 where there is none.',
        facts: [`Now ${pool}${requests}.`],
        warning: null,
        verb: 'Begin maintenance',
      }
    : {
        title: `End the maintenance of ${name}?`,
        effect: 'Its endpoints answer again.',
        facts: [`${pool[0]?.toUpperCase()}${pool.slice(1)}.`],
        warning:
          inUse === 0 ? 'No endpoint is in use: the fallback goes on answering, or 503 where there is none.' : null,
        verb: 'End maintenance',
      };
}

/**
 * @param {Rate | null} rate
 * @param {Rate | null} of
 */
export function shareOf(rate, of) {
  return rate === null || of === null || of.requestsPerSecond === 0
    ? null
    : Math.min(1, rate.requestsPerSecond / of.requestsPerSecond);
}

/** @param {string} service */
function lastWarning(service) {
  return `It is the last endpoint of ${service} in use. Without it only the fallback answers, or 503 where there is none.`;
}

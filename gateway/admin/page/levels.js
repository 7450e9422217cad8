// Which state wants how much attention, and the words and signs that say so without colour.
/** @import { Endpoint, Level, Service } from './document.ts' */

/** @typedef {{ readonly level: Level, readonly text: string }} Badge */

/** @type {Readonly<Record<Level, string>>} */
export const SIGNS = { ok: '●', info: '◆', warn: '▲', bad: '✖' };

/** @type {Readonly<Record<Endpoint['state'], Level>>} */
const ENDPOINT_LEVELS = {
  active: 'ok',
  warming: 'info',
  draining: 'info',
  probing: 'warn',
  unhealthy: 'warn',
  ejected: 'bad',
};

/** @type {readonly Level[]} */
const ORDER = ['ok', 'info', 'warn', 'bad'];

/**
 * @param {Endpoint} endpoint
 * @returns {Badge}
 */
export function endpointBadge({ state }) {
  return { level: ENDPOINT_LEVELS[state], text: state };
}

/** @param {Endpoint} endpoint */
export function isInUse({ effectiveWeight }) {
  return effectiveWeight > 0;
}

/**
 * What there is to say of a service as a whole, its own state first.
 * @param {Service} service
 * @returns {Badge[]}
 */
export function serviceBadges({ state, breaker, degradedSince, maintenance, endpoints }) {
  /** @type {Badge[]} */
  const badges = [{ level: state === 'healthy' ? 'ok' : state === 'stale' ? 'warn' : 'bad', text: state }];
  if (maintenance !== null) badges.push({ level: 'info', text: 'maintenance' });
  if (degradedSince !== null) badges.push({ level: maintenance === null ? 'bad' : 'info', text: 'degraded' });
  if (breaker === 'open') badges.push({ level: 'bad', text: 'breaker open' });
  if (breaker === 'half_open') badges.push({ level: 'warn', text: 'breaker half-open' });
  const ejected = endpoints.filter((endpoint) => endpoint.state === 'ejected').length;
  if (ejected > 0) badges.push({ level: 'warn', text: `${ejected} ejected` });
  return badges;
}

/**
 * The level that wants the most attention.
 * @param {readonly Level[]} levels
 * @returns {Level}
 */
export function worst(levels) {
  return ORDER[Math.max(0, ...levels.map((level) => ORDER.indexOf(level)))] ?? 'ok';
}

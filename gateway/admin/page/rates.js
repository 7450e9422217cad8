// Rates from counters: what each endpoint, each service and the gateway did between the looks at it.
/** @import { Moment, Rate, Service, UpstreamsDocument } from './document.ts' */

/** The figures of the tables are means over this time. */
const WINDOW_MS = 10_000;
/** The plots go back this far. */
export const PLOT_MS = 120_000;
/** A pause longer than this is a gap in the plots. */
const GAP_MS = 12_000;

/** @typedef {{ readonly requests: number, readonly failures: number }} Counts */
/** @typedef {ReadonlyMap<string, Counts>} Counters by endpoint */
/** @typedef {{ readonly atMs: number, readonly services: ReadonlyMap<string, Counters> }} Look */
/** @typedef {Moment & { readonly seconds: number, readonly requests: number, readonly failures: number }} Step */

/** Keeps the looks of the last ten seconds and the steps of the last two minutes. */
export class Rates {
  /** @type {Look[]} */
  #looks = [];
  /** @type {Map<string, Step[]>} */
  #steps = new Map();
  /** @type {Step[]} */
  #totals = [];
  #gateway = '';

  /**
   * Takes what the gateway shows at a time. Another process counts from zero: there are no rates across its start. The
   * same goes for an endpoint that was not there before, or whose counters went back.
   * @param {UpstreamsDocument} document
   * @param {number} atMs by a clock that never goes back
   */
  look({ gateway, services }, atMs) {
    const name = `${gateway.pid} ${gateway.startedAt}`;
    if (name !== this.#gateway) this.#looks.length = 0;
    this.#gateway = name;
    const last = this.#looks.at(-1);
    const previous = last !== undefined && atMs - last.atMs <= GAP_MS ? last : undefined;
    if (previous === undefined) this.#looks.length = 0;
    const look = { atMs, services: new Map(services.map((each) => [each.service, countersOf(each)])) };
    const steps = services.map((service) => stepOf({ service, look, previous }));
    services.forEach(({ service }, at) => {
      this.#remember(service, steps[at]);
    });
    for (const name of this.#steps.keys()) if (!look.services.has(name)) this.#steps.delete(name);
    append(this.#totals, sumOf(steps, { atMs, previous }));
    this.#looks.push(look);
    while ((this.#looks[0]?.atMs ?? atMs) < atMs - WINDOW_MS - 500) this.#looks.shift();
  }

  /**
   * @param {string} service
   * @param {string} endpoint
   * @returns {Rate | null}
   */
  endpointRate(service, endpoint) {
    const newest = this.#looks.at(-1);
    const now = newest?.services.get(service)?.get(endpoint);
    if (newest === undefined || now === undefined) return null;
    for (const { atMs, services } of this.#looks) {
      const then = services.get(service)?.get(endpoint);
      if (then === undefined || then.requests > now.requests || then.failures > now.failures) continue;
      if (atMs === newest.atMs) return null;
      const counts = { requests: now.requests - then.requests, failures: now.failures - then.failures };
      return rateOf(counts, (newest.atMs - atMs) / 1000);
    }
    return null;
  }

  /** @param {string} service */
  serviceRate(service) {
    return meanOf(this.#steps.get(service) ?? []);
  }

  totalRate() {
    return meanOf(this.#totals);
  }

  /** @param {string} service */
  serviceMoments(service) {
    return this.#steps.get(service) ?? [];
  }

  totalMoments() {
    return this.#totals;
  }

  /**
   * @param {string} service
   * @param {Step | undefined} step
   */
  #remember(service, step) {
    if (step === undefined) return;
    const steps = this.#steps.get(service) ?? [];
    append(steps, step);
    this.#steps.set(service, steps);
  }
}

/**
 * @param {Service} service
 * @returns {Counters}
 */
function countersOf({ endpoints }) {
  return new Map(endpoints.map(({ endpoint, requests, failures }) => [endpoint, { requests, failures }]));
}

/**
 * @param {{ service: Service, look: Look, previous: Look | undefined }} options
 * @returns {Step}
 */
function stepOf({ service, look, previous }) {
  const { atMs } = look;
  const inFlight = service.endpoints.reduce((sum, endpoint) => sum + endpoint.inFlight, 0);
  const before = previous?.services.get(service.service);
  if (previous === undefined || before === undefined) return unknownStep(atMs, inFlight);
  let requests = 0;
  let failures = 0;
  for (const endpoint of service.endpoints) {
    const then = before.get(endpoint.endpoint);
    if (then === undefined || then.requests > endpoint.requests || then.failures > endpoint.failures) continue;
    requests += endpoint.requests - then.requests;
    failures += endpoint.failures - then.failures;
  }
  const seconds = (atMs - previous.atMs) / 1000;
  const { requestsPerSecond, failuresPerSecond } = rateOf({ requests, failures }, seconds);
  return { atMs, inFlight, seconds, requests, failures, requestsPerSecond, failuresPerSecond };
}

/**
 * @param {readonly Step[]} steps
 * @param {{ atMs: number, previous: Look | undefined }} when
 * @returns {Step}
 */
function sumOf(steps, { atMs, previous }) {
  const inFlight = steps.reduce((sum, step) => sum + (step.inFlight ?? 0), 0);
  if (previous === undefined) return unknownStep(atMs, inFlight);
  const requests = steps.reduce((sum, step) => sum + step.requests, 0);
  const failures = steps.reduce((sum, step) => sum + step.failures, 0);
  const seconds = (atMs - previous.atMs) / 1000;
  const { requestsPerSecond, failuresPerSecond } = rateOf({ requests, failures }, seconds);
  return { atMs, inFlight, seconds, requests, failures, requestsPerSecond, failuresPerSecond };
}

/**
 * @param {number} atMs
 * @param {number} inFlight
 * @returns {Step}
 */
function unknownStep(atMs, inFlight) {
  return { atMs, inFlight, seconds: 0, requests: 0, failures: 0, requestsPerSecond: null, failuresPerSecond: null };
}

/**
 * @param {Step[]} steps
 * @param {Step} step
 */
function append(steps, step) {
  steps.push(step);
  while ((steps[0]?.atMs ?? step.atMs) < step.atMs - PLOT_MS - GAP_MS) steps.shift();
}

/**
 * @param {readonly Step[]} steps
 * @returns {Rate | null}
 */
function meanOf(steps) {
  const newest = steps.at(-1);
  if (newest === undefined) return null;
  const counts = { requests: 0, failures: 0 };
  let seconds = 0;
  for (let at = steps.length - 1; at >= 0; at--) {
    const step = steps[at];
    if (step === undefined || step.seconds === 0 || step.atMs <= newest.atMs - WINDOW_MS) break;
    counts.requests += step.requests;
    counts.failures += step.failures;
    seconds += step.seconds;
  }
  return seconds === 0 ? null : rateOf(counts, seconds);
}

/**
 * @param {Counts} counts
 * @param {number} seconds
 * @returns {Rate}
 */
function rateOf({ requests, failures }, seconds) {
  return { requests, failures, requestsPerSecond: requests / seconds, failuresPerSecond: failures / seconds };
}

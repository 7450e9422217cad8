// What is wrong at this moment, in sentences, the worst first.
/** @import { Level, Listener, Problem, Service, View } from './document.ts' */
import { many, milliseconds, percent, since, span, until } from './format.js';
import { isInUse, worst } from './levels.js';

/** A worker that is this late with a snapshot, or that stalls as long, is worth a word. */
const LATE_MS = 2000;
const STALL_MS = 200;
/** A certificate that expires sooner should have been renewed. */
const SOON_MS = 14 * 86_400_000;
/** Failures below these are noise. */
const FAILED_SHARE = 0.05;
const FAILED_COUNT = 5;

/** @typedef {{ readonly level: Level, readonly text: string }} Sentence */

/**
 * @param {View} view
 * @returns {Problem[]}
 */
export function problemsOf(view) {
  const gateway = gatewaySentences(view).map((sentence) => asProblem(null, [sentence]));
  const services = view.document.services.flatMap((service) => {
    const sentences = serviceSentences(service, view);
    return sentences.length === 0 ? [] : [asProblem(service.service, sentences)];
  });
  const problems = [...gateway, ...services];
  /** @type {Level[]} */
  const levels = ['bad', 'warn', 'info'];
  return levels.flatMap((level) => problems.filter((problem) => problem.level === level));
}

/**
 * @param {string | null} service
 * @param {readonly Sentence[]} sentences
 * @returns {Problem}
 */
function asProblem(service, sentences) {
  return { service, level: worst(sentences.map(({ level }) => level)), sentences: sentences.map(({ text }) => text) };
}

/**
 * @param {View} view
 * @returns {Sentence[]}
 */
function gatewaySentences({ document: { gateway, snapshot }, gatewayMs }) {
  /** @type {Sentence[]} */
  const found = [];
  if (gateway.leader.worker === null) found.push({ level: 'bad', text: 'no worker leads: nobody asks the sources' });
  const ageMs = snapshot.takenAt === null ? 0 : gatewayMs - Date.parse(snapshot.takenAt);
  for (const { id, snapshot: known, eventLoopLagMs } of gateway.workers) {
    if (known < snapshot.version && ageMs > LATE_MS) {
      found.push({
        level: 'warn',
        text: `worker ${id} routes by snapshot ${known}; the newest is ${snapshot.version}, ${span(ageMs)} old`,
      });
    }
    if (eventLoopLagMs >= STALL_MS) {
      found.push({ level: 'warn', text: `worker ${id} is ${milliseconds(eventLoopLagMs)} late with its work` });
    }
  }
  return [...found, ...certificateSentences(gateway.listeners ?? [], gatewayMs)];
}

/**
 * @param {readonly Listener[]} listeners
 * @param {number} gatewayMs
 * @returns {Sentence[]}
 */
function certificateSentences(listeners, gatewayMs) {
  const certificates = listeners.flatMap((listener) => listener.certificates);
  return certificates.flatMap(({ certificate, notAfter, problem }) => {
    const leftMs = notAfter === null ? SOON_MS : Date.parse(notAfter) - gatewayMs;
    /** @type {Sentence[]} */
    const found = problem === null ? [] : [{ level: 'warn', text: `not in force as it is: ${problem}` }];
    if (leftMs < 0) found.push({ level: 'bad', text: `certificate ${certificate} has expired` });
    else if (leftMs < SOON_MS)
      found.push({ level: 'warn', text: `certificate ${certificate} expires in ${span(leftMs)}` });
    return found;
  });
}

/**
 * @param {Service} service
 * @param {View} view
 * @returns {Sentence[]}
 */
function serviceSentences(service, view) {
  return [
    ...poolSentences(service),
    ...answerSentences(service, view),
    ...endpointSentences(service),
    ...trafficSentences(service, view),
  ];
}

/**
 * @param {Service} service
 * @returns {Sentence[]}
 */
function poolSentences({ state, endpoints, source, ageSeconds, lastError, skippedRecords }) {
  /** @type {Sentence[]} */
  const found = [];
  const inUse = endpoints.filter(isInUse).length;
  if (endpoints.length === 0) found.push({ level: 'bad', text: `${source} lists no endpoint` });
  else if (inUse === 0)
    found.push({ level: 'bad', text: `none of its ${many(endpoints.length, 'endpoint')} is in use` });
  if (state === 'stale') {
    const age = ageSeconds === null ? 'never answered' : `last answered well ${span(ageSeconds * 1000)} ago`;
    const error = lastError === null ? '' : `: ${lastError}`;
    found.push({ level: 'warn', text: `the last good answer is kept: ${source} ${age}${error}` });
  }
  if (skippedRecords > 0) {
    found.push({ level: 'info', text: `${many(skippedRecords, 'record')} of ${source} could not be used` });
  }
  return found;
}

/**
 * @param {Service} service
 * @param {View} view
 * @returns {Sentence[]}
 */
function answerSentences({ maintenance, degradedSince, degradedReason, breaker, breakerUntil }, { gatewayMs }) {
  /** @type {Sentence[]} */
  const found = [];
  if (maintenance !== null) {
    const from = maintenance.since === null ? '' : ` ${since(maintenance.since, gatewayMs)}`;
    const reason = maintenance.reason ? `: ${maintenance.reason}` : '';
    found.push({ level: 'info', text: `in maintenance${from}${reason}` });
  }
  if (degradedSince !== null) {
    const reason = degradedReason === null ? '' : `, reason: ${degradedReason}`;
    const text = `answered without the pool ${since(degradedSince, gatewayMs)}${reason}`;
    found.push({ level: maintenance === null ? 'bad' : 'info', text });
  }
  if (breaker === 'open') {
    const end = breakerUntil === null ? '' : ` ${until(breakerUntil, gatewayMs)}`;
    found.push({ level: 'bad', text: `the breaker is open${end}` });
  }
  if (breaker === 'half_open') found.push({ level: 'warn', text: 'the breaker lets probes through' });
  return found;
}

/**
 * @param {Service} service
 * @returns {Sentence[]}
 */
function endpointSentences({ endpoints, source }) {
  /** @type {Sentence[]} */
  const found = [];
  const ejected = endpoints.filter(({ state }) => state === 'ejected' || state === 'probing');
  const [first] = ejected;
  if (first !== undefined) {
    const more = ejected.length === 1 ? '' : ` and ${ejected.length - 1} more`;
    const of = `${ejected.length} of ${many(endpoints.length, 'endpoint')} set aside`;
    found.push({ level: 'warn', text: `${of}: ${first.endpoint} (${first.why ?? first.state})${more}` });
  }
  const unhealthy = endpoints.filter(({ state }) => state === 'unhealthy').length;
  if (unhealthy > 0) {
    const text = `${unhealthy} of ${many(endpoints.length, 'endpoint')} unhealthy, says ${source}`;
    found.push({ level: 'warn', text });
  }
  const draining = endpoints.filter(({ state }) => state === 'draining').length;
  if (draining > 0) found.push({ level: 'info', text: `${many(draining, 'endpoint')} draining by an operator's word` });
  return found;
}

/**
 * @param {Service} service
 * @param {View} view
 * @returns {Sentence[]}
 */
function trafficSentences({ service }, { meter }) {
  const rate = meter.serviceRate(service);
  if (rate === null || rate.failures < FAILED_COUNT || rate.failures < FAILED_SHARE * rate.requests) return [];
  const share = percent(rate.failures / Math.max(rate.requests, 1));
  return [{ level: 'warn', text: `${share} of its attempts failed in the last 10 s` }];
}

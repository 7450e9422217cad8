// An explanation as text for people: the sentence first, then a section for each thing that decides.
import { printable } from '../../core/printable.ts';
import { quote } from '../../core/quote.ts';
import { endpointLines } from './endpoint-lines.ts';
import { entryLines } from './entry-lines.ts';
import type { Explanation } from './explanation.ts';
import { REASON_WORDS } from './summary.ts';
import { counted, durationWords, sizeWords } from './words.ts';

/** How wide the names of the sections are. */
const MARGIN = 13;

/** The text, with a line end at its end; nothing in it moves a terminal's cursor. */
export function explanationText(explanation: Explanation): string {
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['request', requestLines(explanation)],
    ['listener', entryLines(explanation.entry)],
    ['route', routeLines(explanation)],
    ['others', rivalLines(explanation)],
    ['access', accessLines(explanation)],
    ['forwarded', forwardLines(explanation)],
    ['limits', limitLines(explanation)],
    ['service', serviceLines(explanation)],
    ['split', splitLines(explanation)],
    ['hash key', keyLines(explanation)],
    ['endpoints', endpointLines(explanation.endpoints)],
    ['pick', pickLines(explanation)],
    ['if it fails', failureLines(explanation)],
    ['answer', answerLines(explanation)],
  ];
  const blocks = sections.filter(([, lines]) => lines.length > 0).map(([name, lines]) => section(name, lines));
  return `${printable(explanation.summary)}\n\n${blocks.join('')}`;
}

function section(name: string, lines: readonly string[]): string {
  return lines.map((line, at) => `${(at === 0 ? name : '').padEnd(MARGIN)}${printable(line)}\n`).join('');
}

function requestLines({ request, basis }: Explanation): string[] {
  const { client, clientFrom, path, target } = request;
  const from = {
    given: '',
    assumed: ' (assumed: nobody said who asks)',
    'x-forwarded-for': ' (from X-Forwarded-For, for the peer is a trusted proxy)',
  };
  const lines = [`from ${client}${from[clientFrom]}`];
  if (path !== null && path !== target.replace(/\?.*$/s, '')) lines.push(`routes see the path as ${path}`);
  if (request.upgrade === 'tunnelled') lines.push('a WebSocket: it is tunnelled');
  if (request.upgrade === 'ignored')
    lines.push('the route tunnels no WebSockets: answered as if it had not asked for one');
  if (basis === 'files') lines.push('told from the files alone: as a gateway would act that has just started');
  return lines;
}

function routeLines({ route }: Explanation): string[] {
  if (route === null) return ['none'];
  const { host, path, methods, headers } = route;
  const wanted = Object.entries(headers).map(([name, value]) => {
    return value === '*' ? `header ${name}: it is present` : `header ${name}: it is ${quote(value)}`;
  });
  return [
    `${route.name} (${route.file}, match[${route.rule}])`,
    hostLine(host),
    path.kind === 'exact' ? `path: exactly ${path.pattern}` : `path: begins with ${path.pattern.slice(0, -1)} (prefix)`,
    ...(methods === null ? [] : [`method: one of ${methods.join(', ')}`]),
    ...wanted,
  ];
}

function hostLine({ kind, pattern }: NonNullable<Explanation['route']>['host']): string {
  if (pattern === null) return 'host: any will do';
  return kind === 'exact' ? `host: exactly ${pattern}` : `host: one of ${pattern} (wildcard)`;
}

function rivalLines({ route, request, rivals, moreRivals }: Explanation): string[] {
  if (rivals.length === 0) return route === null && request.path !== null ? ['none comes close'] : [];
  const lines = rivals.map(({ route, why }) => `${route} ${why}`);
  return moreRivals === 0 ? lines : [...lines, `and ${moreRivals} more`];
}

function accessLines({ access, request }: Explanation): string[] {
  if (access === null) return [];
  const { checks, isWelcome, needs, verified } = access;
  return [
    ...checks,
    ...(isWelcome ? [] : [`${request.client} may not come in`]),
    ...(needs === null ? [] : [`it needs ${needs}, which is not checked here`]),
    ...(verified.length === 0 ? [] : [`what goes by ${verified.join(', ')} goes by what is verified, unknown here`]),
  ];
}

function forwardLines({ forward, request }: Explanation): string[] {
  if (forward === null) return [];
  const { target, host, hostFrom, protocol, stripPrefix, addPrefix, sets, removes } = forward;
  const origin = { client: 'as received', upstream: 'the endpoint', literal: 'set by the route' };
  const changes = [
    ...(stripPrefix === '' ? [] : [`without ${stripPrefix}`]),
    ...(addPrefix === '' ? [] : [`with ${addPrefix} in front`]),
  ];
  return [
    `${request.method} ${target}${changes.length === 0 ? ', as received' : `, ${changes.join(', ')}`}`,
    `Host: ${host ?? 'the address of the endpoint'} (${origin[hostFrom]}), over ${protocol}`,
    ...(sets.length === 0 ? [] : [`sets ${sets.join(', ')}`]),
    ...(removes.length === 0 ? [] : [`removes ${removes.join(', ')}`]),
  ];
}

function limitLines({ rateLimits, rateLimited, concurrency }: Explanation): string[] {
  const lines = rateLimits.map(({ algorithm, rate, burst, by, key }) => {
    const extra = { token_bucket: `, burst ${burst}`, leaky_bucket: `, queue ${burst}` }[algorithm] ?? '';
    return `${rate} by ${by}${whoseLimit(by, key)} (${algorithm}${extra})`;
  });
  if (rateLimits.length > 0) lines.push(`${counted(rateLimited, 'request')} of this route refused so far`);
  if (concurrency !== null) lines.push(placesLine(concurrency));
  return lines;
}

function whoseLimit(by: string, key: string | null): string {
  if (by === 'route') return ', all its requests together';
  return key === null ? ', which is absent: such requests count together' : `, here "${key}"`;
}

function placesLine({ max, queue, queueTimeoutMs, running, waiting }: NonNullable<Explanation['concurrency']>): string {
  const places = `${running} of ${max} places for requests at once are taken`;
  const waits =
    queue === 0 ? 'nobody may wait' : `${waiting} of ${queue} wait, ${durationWords(queueTimeoutMs)} at most`;
  return `${places}; ${waits}`;
}

function serviceLines({ service }: Explanation): string[] {
  if (service === null) return [];
  const { name, source, state, ageSeconds, lastError, breaker, maintenance, degraded } = service;
  if (state === 'unknown') return [`${name} from ${source}, of which only a running gateway knows the endpoints`];
  const age = ageSeconds === null ? '' : `, last answer ${ageSeconds} s ago`;
  const from = source === 'static' ? 'its route file' : source;
  return [
    `${name} from ${from}: ${state}${source === 'static' ? '' : age}`,
    ...(lastError === null ? [] : [`discovery fails: ${lastError}`]),
    ...(maintenance === null
      ? []
      : [`in maintenance since ${maintenance.since}: ${maintenance.reason || 'no reason given'}`]),
    ...(breaker === null ? [] : [breakerLine(breaker)]),
    ...(degraded === null ? [] : [`degraded since ${degraded.since}: ${REASON_WORDS[degraded.reason]}`]),
  ];
}

function breakerLine(breaker: NonNullable<NonNullable<Explanation['service']>['breaker']>): string {
  const { state, until, attempts, failures, windowMs, minRequests, failurePercent, probes } = breaker;
  if (state === 'open') return `breaker open until ${until}: nothing is let through`;
  if (state === 'half_open')
    return `breaker half open: ${counted(probes, 'request')} let through decide, and all must be good`;
  const opens = `opens at ${failurePercent} % of at least ${minRequests}`;
  return `breaker closed: ${failures} of ${attempts} attempts failed in the last ${durationWords(windowMs)} (${opens})`;
}

function splitLines({ split }: Explanation): string[] {
  if (split === null) return [];
  const { branch, by, why, instead, branches } = split;
  const chosen = by === 'rule' ? `${branch}, by its rule: ${why}` : `${branch}, by weight: ${why}, and its turn`;
  const all = branches.map((each) => {
    return `${each.branch}: weight ${each.weight}${each.when === null ? '' : `, or when ${each.when}`}`;
  });
  return [
    chosen,
    ...(instead === null ? [] : [`it has no endpoint left: ${instead} serves instead`]),
    `(${all.join('; ')})`,
  ];
}

function keyLines({ key }: Explanation): string[] {
  if (key === null) return [];
  return [key.value === null ? `${key.from}: absent` : `${key.from} = "${key.value}"`];
}

function pickLines({ pick }: Explanation): string[] {
  if (pick === null) return [];
  const { endpoint, isCertain, how, next, isNobodyLeft } = pick;
  if (endpoint === null) return [`nobody: ${how}`];
  const others = [...next, ...(isNobodyLeft ? ['nobody is left'] : [])];
  return [
    `${endpoint}${isCertain ? '' : ', or another'}: ${how}`,
    ...(others.length === 0 ? [] : [`when that fails: ${others.join(', then ')}`]),
  ];
}

function failureLines({ failure }: Explanation): string[] {
  if (failure === null) return [];
  const { attempts, retries, bodyBufferBytes, budget, fallback } = failure;
  const retried = retries.filter(({ isRetried }) => isRetried).map(({ after }) => after);
  const share =
    budget.percent === null ? 'no budget' : `at most ${budget.percent} % of the requests, or ${budget.minPerSecond}/s`;
  const spent = `${budget.retries} for ${counted(budget.requests, 'request')} in the last 10 s`;
  return [
    ...(attempts === 1 || retried.length === 0
      ? ['it is not tried again']
      : [
          `up to ${attempts} attempts, each at another endpoint, after ${retried.join(', ')}`,
          `only with a body of at most ${sizeWords(bodyBufferBytes)}; retries: ${share} (${spent}${budget.isExhausted ? ': used up' : ''})`,
        ]),
    ...deniedLines(retries),
    ...(fallback === null
      ? ['no fallback: Weir answers with the error']
      : [`fallback on ${fallback.on.join(', ')}:`, ...fallback.chain.map((step, at) => `  ${at + 1}. ${step}`)]),
  ];
}

/** One line for each reason for which the request is not sent again. */
function deniedLines(retries: NonNullable<Explanation['failure']>['retries']): string[] {
  const byReason = Map.groupBy(retries, ({ why }) => why);
  return [...byReason].flatMap(([why, denied]) => {
    return why === null ? [] : [`not after ${denied.map(({ after }) => after).join(', ')}: ${why}`];
  });
}

function answerLines({ answer }: Explanation): string[] {
  if (answer === null) return [];
  const { compression, adds, removes } = answer;
  const lines: string[] = [];
  if (compression !== null) {
    const { offered, coding } = compression;
    const others = `not compressed: the client accepts none of ${offered.join(', ')}, or likes it better so`;
    lines.push(coding === null ? others : `compressed with ${coding}, where there is something to gain`);
  }
  if (adds.length > 0) lines.push(`gets ${adds.join(', ')}, where the service says nothing`);
  if (removes.length > 0) lines.push(`loses ${removes.join(', ')}`);
  return lines;
}

// The `fallback` section of a route: who answers when the service cannot.
import { choice, duration, filePath, list, refuse, section, text, whole } from './fields.ts';
import { fieldValue } from './http-fields.ts';
import { originAddress } from './net-fields.ts';

const BODILESS: readonly number[] = [204, 205, 304];

const respond = section({
  status: whole({ min: 200, max: 599, of: 'a status' }).default(503).describe('Status of the answer.'),
  contentType: fieldValue.prefault('text/plain; charset=utf-8').describe('Content-Type of the answer.'),
  body: text('text', (written) => written)
    .exactOptional()
    .describe('Body of the answer.'),
  file: filePath('a file, relative to the route file')
    .exactOptional()
    .describe('The file that has the body, relative to the route file; it is read when the route is loaded.'),
}).transform(({ status, contentType, body, file = null }, checking) => {
  if (body !== undefined && file !== null) {
    refuse(checking, { wrong: 'both body and file', expected: 'one of them', path: ['file'] });
  }
  if ((file !== null || (body ?? '') !== '') && BODILESS.includes(status)) {
    const path = [file === null ? 'body' : 'file'];
    refuse(checking, { wrong: `a response with status ${status} has no body`, path });
  }
  return { kind: 'respond' as const, status, contentType, content: new TextEncoder().encode(body ?? ''), file };
});

const link = section({
  upstream: list(originAddress, { of: 'URLs like http://127.0.0.1:8000', min: 1 })
    .exactOptional()
    .describe('Servers that answer instead.'),
  respond: respond.exactOptional().describe('A fixed answer.'),
  stale: section({
    maxAge: duration({ max: '576h' }).prefault('10m').describe('How old the answer may be.'),
  })
    .exactOptional()
    .describe('The last good answer to the same GET, where a shared cache could have stored it.'),
}).transform(({ upstream, respond, stale }, checking) => {
  const links = [
    upstream === undefined ? [] : [{ kind: 'upstream' as const, origins: upstream }],
    respond === undefined ? [] : [respond],
    stale === undefined ? [] : [{ kind: 'stale' as const, maxAgeMs: stale.maxAge }],
  ].flat();
  const [link, ...others] = links;
  if (link !== undefined && others.length === 0) return link;
  return refuse(checking, { wrong: 'not one link of a chain', expected: 'one of stale, upstream and respond' });
});

/** The `fallback` section. */
export const fallback = section({
  on: list(choice(['empty', 'unreachable', 'breaker', 'status-5xx']), {
    of: 'empty, unreachable, breaker, status-5xx',
    min: 1,
  })
    .default(['empty', 'unreachable', 'breaker'])
    .describe('When it answers: no endpoint in the pool, no attempt succeeded, open breaker, an answer of 500 to 599.'),
  chain: list(link, { of: 'links, each with stale, upstream or respond', min: 1 }).describe(
    'Who answers, tried in this order.',
  ),
});

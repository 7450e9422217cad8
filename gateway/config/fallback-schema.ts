// The `fallback` section of a route: who answers when the service cannot.
import { choice, list, notYet, refuse, section, text, whole } from './fields.ts';
import { fieldValue } from './http-fields.ts';
import { originAddress } from './net-fields.ts';

const BODILESS: readonly number[] = [204, 205, 304];

const respond = section({
  status: whole({ min: 200, max: 599, of: 'a status' }).default(503).describe('Status of the answer.'),
  contentType: fieldValue.prefault('text/plain; charset=utf-8').describe('Content-Type of the answer.'),
  body: text('text', (written) => written)
    .prefault('')
    .describe('Body of the answer.'),
}).transform((answer, checking) => {
  if (answer.body !== '' && BODILESS.includes(answer.status)) {
    refuse(checking, { wrong: `a response with status ${answer.status} has no body`, path: ['body'] });
  }
  return { kind: 'respond' as const, ...answer };
});

const link = section({
  upstream: list(originAddress, { of: 'URLs like http://127.0.0.1:8000', min: 1 })
    .exactOptional()
    .describe('Servers that answer instead.'),
  respond: respond.exactOptional().describe('A fixed answer.'),
  stale: notYet,
}).transform(({ upstream, respond }, checking) => {
  if (upstream !== undefined && respond === undefined) return { kind: 'upstream' as const, origins: upstream };
  if (respond !== undefined && upstream === undefined) return respond;
  return refuse(checking, { wrong: 'not one link of a chain', expected: 'either upstream or respond' });
});

/** The `fallback` section. */
export const fallback = section({
  on: list(choice(['empty', 'unreachable'], ['breaker', 'status-5xx']), { of: 'empty, unreachable', min: 1 })
    .default(['empty', 'unreachable'])
    .describe('When it answers: empty (no endpoint in the pool), unreachable (no attempt succeeded).'),
  chain: list(link, { of: 'links, each with upstream or respond', min: 1 }).describe(
    'Who answers, tried in this order.',
  ),
});

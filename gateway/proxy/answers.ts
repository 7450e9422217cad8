// The answers that Weir gives itself: problem+json (RFC 9457) or small HTML, never cached, with Proxy-Status.
import Negotiator from 'negotiator';
import { ERROR_ANSWERS, type ErrorAnswer, type ErrorSituation } from '../core/errors.ts';
import type { ResponseHead } from './exchange.ts';

/** An answer with its content whole. */
export interface OwnAnswer {
  readonly head: ResponseHead;
  readonly content: Buffer;
}

const PROBLEM_JSON = 'application/problem+json';
const HTML = 'text/html';

/** The answer for a situation in the form that the client prefers; `accept` is its Accept field. */
export function errorAnswer(situation: ErrorSituation, requestId: string, accept: string | undefined): OwnAnswer {
  const answer: ErrorAnswer = ERROR_ANSWERS[situation];
  const isHtml = accept !== undefined && prefersHtml(accept);
  const content = Buffer.from(isHtml ? html(answer, requestId) : problem(answer, requestId));
  const fields = [
    'Content-Type',
    isHtml ? 'text/html; charset=utf-8' : PROBLEM_JSON,
    'Content-Length',
    String(content.length),
    'Cache-Control',
    'no-store',
    'X-Request-Id',
    requestId,
  ];
  if (answer.proxyStatus !== null) fields.push('Proxy-Status', `weir; error=${answer.proxyStatus}`);
  if (answer.retryAfterSeconds !== undefined) fields.push('Retry-After', String(answer.retryAfterSeconds));
  return { head: { status: answer.status, reason: answer.title, fields }, content };
}

/** The same as octets that end the connection, for where there is no codec left to write it. */
export function rawErrorAnswer(situation: ErrorSituation, requestId: string): Buffer {
  const { head, content } = errorAnswer(situation, requestId, undefined);
  let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n`;
  for (let at = 0; at < head.fields.length; at += 2) text += `${head.fields[at]}: ${head.fields[at + 1]}\r\n`;
  return Buffer.concat([Buffer.from(`${text}Connection: close\r\n\r\n`, 'latin1'), content]);
}

function prefersHtml(accept: string): boolean {
  const best = new Negotiator({ headers: { accept } }).mediaType([PROBLEM_JSON, 'application/json', HTML]);
  return best === HTML;
}

function problem(answer: ErrorAnswer, requestId: string): string {
  const { status, title, detail } = answer;
  return JSON.stringify({ type: 'about:blank', title, status, detail, requestId });
}

/** Request IDs are checked to be plain before they get here; all else is Weir's own text. */
function html(answer: ErrorAnswer, requestId: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${answer.status} ${answer.title}</title>
<style>body{font-family:system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}</style>
<h1>${answer.title}</h1>
<p>${answer.detail}</p>
<p><small>${answer.status} · request ${requestId}</small></p>
</html>
`;
}

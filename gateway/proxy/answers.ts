// The answers that Weir gives itself: problem+json (RFC 9457) or small HTML, never cached, with Proxy-Status.
import Negotiator from 'negotiator';
import { ERROR_ANSWERS, type ErrorAnswer, type ErrorSituation } from '../core/errors.ts';
import { grpcStatusOf, isGrpcType } from '../core/grpc-status.ts';
import { VIOLATIONS, type Violation } from '../http1/violation.ts';
import type { AnswerHead, Exchange } from './exchange.ts';

/** An answer with its content whole. */
export interface OwnAnswer {
  readonly head: AnswerHead;
  readonly content: Buffer;
}

/** What a longer Accept field says is not worked out: it costs more than an answer. */
export const LONGEST_ACCEPT = 512;

const PROBLEM_JSON = 'application/problem+json';
const HTML = 'text/html';

export interface AnswerWishes {
  /** The Accept field of the request: the answer has the form that the client prefers. */
  readonly accept?: string | undefined;
  /** The Content-Type of the request: a gRPC client is answered in its own way. */
  readonly contentType?: string | undefined;
  /** Field lines to add, each with its CRLF. */
  readonly lines?: string;
}

/** The answer for a situation. */
export function errorAnswer(situation: ErrorSituation, requestId: string, wishes: AnswerWishes = {}): OwnAnswer {
  const answer: ErrorAnswer = ERROR_ANSWERS[situation];
  const { accept, contentType, lines: added = '' } = wishes;
  if (contentType !== undefined && isGrpcType(contentType))
    return grpcAnswer(situation, requestId, { contentType, added });
  const isHtml = accept !== undefined && prefersHtml(accept);
  const content = Buffer.from(isHtml ? html(answer, requestId) : problem(answer, requestId));
  let lines = `Content-Type: ${isHtml ? 'text/html; charset=utf-8' : PROBLEM_JSON}\r\n`;
  lines += `Content-Length: ${content.length}\r\nCache-Control: no-store\r\nX-Request-Id: ${requestId}\r\n`;
  if (answer.proxyStatus !== null) lines += `Proxy-Status: weir; error=${answer.proxyStatus}\r\n`;
  if (answer.retryAfterSeconds !== undefined) lines += `Retry-After: ${answer.retryAfterSeconds}\r\n`;
  lines += added;
  const framing = { kind: 'length' as const, length: content.length };
  return { head: { status: answer.status, reason: answer.title, lines, hasDate: false, framing }, content };
}

/** Trailers-only (gRPC over HTTP/2, "Responses"): a status of its own in a head that is all there is. */
function grpcAnswer(
  situation: ErrorSituation,
  requestId: string,
  { contentType, added }: { readonly contentType: string; readonly added: string },
): OwnAnswer {
  const { detail, proxyStatus }: ErrorAnswer = ERROR_ANSWERS[situation];
  const [mediaType = ''] = contentType.split(';');
  let lines = `Content-Type: ${mediaType.trim()}\r\nContent-Length: 0\r\n`;
  // No character of a detail needs the percent-encoding of the field.
  lines += `grpc-status: ${grpcStatusOf(situation)}\r\ngrpc-message: ${detail}\r\nX-Request-Id: ${requestId}\r\n`;
  if (proxyStatus !== null) lines += `Proxy-Status: weir; error=${proxyStatus}\r\n`;
  const framing = { kind: 'length' as const, length: 0 };
  const head = { status: 200, reason: 'OK', lines: lines + added, hasDate: false, framing };
  return { head, content: Buffer.alloc(0) };
}

/** Gives an answer to an exchange. */
export function sendAnswer(exchange: Exchange, { head, content }: OwnAnswer): void {
  exchange.sendHead(head);
  exchange.write(content);
  exchange.end('');
}

/** The same as octets that end the connection, for where there is no codec left to write it. */
export function rawErrorAnswer(situation: ErrorSituation, requestId: string, lines = ''): Buffer {
  const { head, content } = errorAnswer(situation, requestId, { lines });
  const text = `HTTP/1.1 ${head.status} ${head.reason}\r\nDate: ${new Date().toUTCString()}\r\n${head.lines}Connection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(text, 'latin1'), content]);
}

/** What a request that breaks a rule of the codec is answered. */
export function situationOf(broken: Violation): ErrorSituation {
  switch (VIOLATIONS[broken]) {
    case 414:
      return 'uri_too_long';
    case 431:
      return 'fields_too_large';
    case 501:
      return 'not_implemented';
    case 400:
      return 'bad_request';
  }
}

function prefersHtml(accept: string): boolean {
  if (accept.length > LONGEST_ACCEPT) return false;
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

// What another service is asked about a request, and what its answer means.
import { STATUS_CODES } from 'node:http';
import type { ForwardRules } from './access-rules.ts';
import { type RequestFacts, UNAVAILABLE, type Verdict } from './gatekeeper.ts';
import { readIdentityText } from './identity-text.ts';

/** The answer of the service: values as Latin-1 text by their lower-case names. */
export interface ForwardAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Null when there is none, or more than a client is given. */
  readonly content: Buffer | null;
}

/** What goes on of an answer that lets a request in, by lower-case names. */
export interface ToldFields {
  readonly responseHeaders: readonly string[];
  /** The one of them that names the user; null for none. */
  readonly userField: string | null;
}

/** Fields of a refusal that reach the client, as they are written there. */
const TOLD: readonly string[] = ['WWW-Authenticate', 'Set-Cookie', 'Location', 'Retry-After'];

/** Fields that say what the content is. */
const DESCRIBING: readonly string[] = ['Content-Type', 'Content-Encoding', 'Content-Language'];

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** The fields that the service is sent. */
export function forwardFields(rules: ForwardRules, request: RequestFacts): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const name of rules.requestHeaders) {
    const value = request.header(name);
    if (value !== undefined) fields[name] = value;
  }
  fields['x-forwarded-method'] = request.method;
  fields['x-forwarded-proto'] = request.isTls ? 'https' : 'http';
  fields['x-forwarded-host'] = request.host;
  fields['x-forwarded-uri'] = request.target;
  fields['x-forwarded-for'] = request.client;
  fields['x-request-id'] = request.requestId;
  return fields;
}

/**
 * 2xx lets the request pass, with the fields of `responseHeaders`. A redirect or 4xx is answered to the client as it is.
 * Anything else is no word to rely on: nobody comes in.
 */
export function forwardVerdict(told: ToldFields, answer: ForwardAnswer, requestId: string): Verdict {
  const { status } = answer;
  if (status >= 200 && status < 300) return passing(told, answer);
  if (REDIRECTS.includes(status) || (status >= 400 && status < 500)) return refusing(answer, requestId);
  return UNAVAILABLE;
}

function passing({ responseHeaders, userField }: ToldFields, { headers }: ForwardAnswer): Verdict {
  let lines = '';
  let user: string | null = null;
  for (const name of responseHeaders) {
    const values = valuesOf(headers[name]);
    if (values.length === 0) continue;
    const value = values.join(', ');
    if (!isFieldValue(value)) return UNAVAILABLE;
    lines += `${name}: ${value}\r\n`;
    if (name === userField && value !== '') user = readIdentityText(value);
  }
  return { kind: 'pass', lines, user };
}

function refusing({ status, headers, content }: ForwardAnswer, requestId: string): Verdict {
  const octets = content ?? Buffer.alloc(0);
  let lines = linesOf(TOLD, headers);
  if (octets.length > 0) lines += linesOf(DESCRIBING, headers);
  lines += linesOf(['Cache-Control'], headers) || 'Cache-Control: no-store\r\n';
  lines += `Content-Length: ${octets.length}\r\nX-Request-Id: ${requestId}\r\n`;
  return { kind: 'answer', status, reason: STATUS_CODES[status] ?? '', lines, content: octets };
}

function linesOf(names: readonly string[], headers: ForwardAnswer['headers']): string {
  let lines = '';
  for (const name of names) {
    for (const value of valuesOf(headers[name.toLowerCase()])) {
      if (isFieldValue(value)) lines += `${name}: ${value}\r\n`;
    }
  }
  return lines;
}

function valuesOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** Latin-1 text without control characters, but for tabs. */
function isFieldValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const octet = value.charCodeAt(at);
    if ((octet < 0x20 && octet !== 0x09) || octet === 0x7f || octet > 0xff) return false;
  }
  return true;
}

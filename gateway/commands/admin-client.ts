// Asks the admin address of a running gateway: a document, or a sentence that says why there is none.
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Environment } from '../config/environment.ts';
import { quote } from '../core/quote.ts';

export const DEFAULT_ADMIN = 'http://127.0.0.1:9901';
export const ADMIN_VARIABLE = 'WEIR_ADMIN_URL';
export const TOKEN_VARIABLE = 'WEIR_ADMIN_TOKEN';

/** Where to ask, and with what token; '' for none. */
export interface AdminPlace {
  readonly url: URL;
  readonly token: string;
}

export type AdminReply =
  | { readonly kind: 'document'; readonly text: string }
  /** Nobody answers, or not in time: it may be another time. */
  | { readonly kind: 'away'; readonly why: string }
  /** What is asked makes no sense to the gateway. */
  | { readonly kind: 'misasked'; readonly why: string }
  /** It answers, but not with that: it will not be another time either. */
  | { readonly kind: 'refused'; readonly why: string };

export interface AdminQuestion {
  /** Path and query. */
  readonly target: string;
  /** The media type that is wanted. */
  readonly accept: string;
  readonly signal?: AbortSignal;
}

const LIMIT_MS = 10_000;
/** A pool of some hundred thousand endpoints. */
const MAX_BYTES = 128 * 1024 * 1024;

/** The place that `--admin` names, else the environment, else the default; a sentence when it is no such place. */
export function adminPlace(option: string | undefined, environment: Environment): AdminPlace | string {
  const variable = environment[ADMIN_VARIABLE] ?? '';
  const written = option ?? (variable === '' ? DEFAULT_ADMIN : variable);
  const whose = option === undefined ? ADMIN_VARIABLE : '--admin';
  const url = /^https?:\/\//i.test(written) ? URL.parse(written) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '') {
    return `${whose} must be a URL like ${DEFAULT_ADMIN}, not ${quote(withoutCredentials(written))}`;
  }
  const token = environment[TOKEN_VARIABLE] ?? '';
  if (!/^[\x20-\x7e]*$/.test(token)) return `${TOKEN_VARIABLE} must be visible ASCII characters`;
  return { url, token };
}

/** Asks once; redirects are not followed, for the token would go along. */
export async function askAdmin(place: AdminPlace, question: AdminQuestion): Promise<AdminReply> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const signal = question.signal === undefined ? limit : AbortSignal.any([limit, question.signal]);
  const name = place.url.origin;
  try {
    const { status, text } = await attempt(place, question, signal);
    if (status === 200) return { kind: 'document', text };
    return refusal(place, status, detailOf(text));
  } catch (error) {
    const why = limit.aborted ? `no answer within ${LIMIT_MS / 1000} s` : reasonOf(error);
    return { kind: 'away', why: `no gateway answers at ${name}: ${why}` };
  }
}

function refusal({ url, token }: AdminPlace, status: number, detail: string): AdminReply {
  const { origin } = url;
  switch (status) {
    case 400:
      return { kind: 'misasked', why: detail };
    case 401: {
      const why = token === '' ? `set ${TOKEN_VARIABLE}` : `the one in ${TOKEN_VARIABLE} is another`;
      return { kind: 'refused', why: `the gateway at ${origin} wants the token of its admin address: ${why}` };
    }
    case 404:
      return { kind: 'refused', why: `what answers at ${origin} has no such page: is it the admin address of a Weir?` };
    default:
      return {
        kind: 'refused',
        why: `the gateway at ${origin} answered ${status}${detail === '' ? '' : `: ${detail}`}`,
      };
  }
}

function attempt(
  { url, token }: AdminPlace,
  { target, accept }: AdminQuestion,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = { accept, ...(token !== '' && { authorization: `Bearer ${token}` }) };
  return new Promise((resolve, reject) => {
    const request = send(new URL(target, url), { agent: false, signal, headers });
    request.once('error', reject);
    request.once('response', (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    request.end();
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString();
}

/** What the body of a refusal says; '' when it says nothing. */
function detailOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'detail' in body && typeof body.detail === 'string') {
      return body.detail;
    }
  } catch {
    // Whatever else it is, it is not Weir's.
  }
  return '';
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name does not resolve at present',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join(', ');
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return SENTENCES[code] ?? error.message;
}

function withoutCredentials(text: string): string {
  return text.replace(/^([a-z]+:\/\/)[^/]*@/i, '$1***@');
}

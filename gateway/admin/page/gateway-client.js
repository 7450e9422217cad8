// Asks the gateway and gives it orders, with the token of the admin address when it wants one.
/** @import { Reply, UpstreamsDocument } from './document.ts' */

const DOCUMENT = '/debug/upstreams';
const LIMIT_MS = 5000;
/** The tab forgets it when it is closed; it is never part of an address. */
const TOKEN_KEY = 'weir-admin-token';

export class GatewayClient {
  #token = recall();

  get hasToken() {
    return this.#token !== '';
  }

  /** @param {string} token '' forgets it */
  setToken(token) {
    this.#token = token;
    remember(token);
  }

  /** @returns {Promise<Reply>} */
  async ask() {
    const beganMs = performance.now();
    const answer = await this.#send(DOCUMENT, { method: 'GET' });
    if (answer.kind !== 'text') return answer;
    const document = documentOf(answer.text);
    if (document === null) return { kind: 'trouble', detail: 'it sent something else than its document' };
    return { kind: 'document', document, tookMs: performance.now() - beganMs, size: answer.text.length };
  }

  /**
   * @param {string} path
   * @param {object} body
   * @returns {Promise<Reply>}
   */
  async order(path, body) {
    const answer = await this.#send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return answer.kind === 'text' ? { kind: 'done' } : answer;
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @returns {Promise<Reply | { readonly kind: 'text', readonly text: string }>}
   */
  async #send(path, init) {
    const headers = new Headers(init.headers);
    headers.set('Accept', 'application/json');
    if (this.hasToken) headers.set('Authorization', `Bearer ${this.#token}`);
    try {
      const answer = await fetch(path, {
        ...init,
        headers,
        mode: 'same-origin',
        credentials: 'omit',
        redirect: 'error',
        cache: 'no-store',
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      const text = await answer.text();
      if (answer.ok) return { kind: 'text', text };
      const detail = detailOf(text) ?? `it answered ${answer.status}`;
      return { kind: answer.status === 401 ? 'unauthorised' : 'trouble', detail };
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      return { kind: 'trouble', detail: isLate ? `no answer within ${LIMIT_MS / 1000} s` : 'it cannot be reached' };
    }
  }
}

/**
 * @param {string} text
 * @returns {UpstreamsDocument | null}
 */
function documentOf(text) {
  const value = parsed(text);
  return Array.isArray(value?.services) && typeof value.gateway === 'object' ? value : null;
}

/**
 * What a problem document (RFC 9457) says.
 * @param {string} text
 * @returns {string | null}
 */
function detailOf(text) {
  const detail = parsed(text)?.detail;
  return typeof detail === 'string' ? detail : null;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @returns {string} */
function recall() {
  try {
    return sessionStorage.getItem(TOKEN_KEY) ?? '';
  } catch {
    return '';
  }
}

/** @param {string} token */
function remember(token) {
  try {
    if (token === '') sessionStorage.removeItem(TOKEN_KEY);
    else sessionStorage.setItem(TOKEN_KEY, token);
  } catch {
    // A browser that stores nothing: the page keeps it until it is left.
  }
}

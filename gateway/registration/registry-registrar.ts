// Registers an instance with the table registry, whose registrations are heartbeats (SPEC section 9).
import { quote } from '../core/quote.ts';
import { type ExchangeAnswer, exchange } from './register-exchange.ts';
import type { WrappedInstance } from './register-options.ts';
import type { Registrar } from './registrar.ts';
import type { Registration } from './store.ts';

export interface RegistryRegistrarOptions {
  /** The registry; a path is put before its own. */
  readonly url: URL;
  /** Sent as a bearer token; '' for none. */
  readonly secret: string;
  readonly instance: WrappedInstance;
  /** Milliseconds between two heartbeats; fewer when the registry says that it expires instances sooner. */
  readonly intervalMs: number;
}

const REQUEST_LIMIT_MS = 5000;
const HEARTBEATS_IN_EXPIRY = 3;

/** Makes the registrar; nothing is sent yet. */
export function createRegistryRegistrar({ url, secret, instance, intervalMs }: RegistryRegistrarOptions): Registrar {
  const registration = tableRegistration(instance);
  const key = { service: registration.service, instance: registration.instance };
  const target = new URL(`${url.href.replace(/\/+$/, '')}/register`);
  const headers = secret === '' ? {} : { authorization: `Bearer ${secret}` };
  let beatMs = intervalMs;

  async function call(method: 'POST' | 'DELETE', content: unknown, signal: AbortSignal): Promise<string> {
    const answer = await exchange({ method, url: target, headers, content, limitMs: REQUEST_LIMIT_MS, signal });
    if (answer.status !== 200) throw new Error(errorOf(answer));
    return answer.text;
  }
  async function register(signal: AbortSignal): Promise<void> {
    const expiryMs = expiryIn(await call('POST', registration, signal));
    if (expiryMs !== undefined) beatMs = Math.min(intervalMs, expiryMs / HEARTBEATS_IN_EXPIRY);
  }
  async function deregister(signal: AbortSignal): Promise<void> {
    await call('DELETE', key, signal);
  }

  return {
    keepsUnhealthy: false,
    checksItself: false,
    get beatMs() {
      return beatMs;
    },
    register: (_isHealthy, signal) => register(signal),
    async beat(_fault, signal) {
      await register(signal);
      return 'listed';
    },
    deregister,
  };
}

/** The body of `POST /register`: weight and tags are meta, as the gateway reads them. */
export function tableRegistration({
  service,
  instance,
  address,
  port,
  weight,
  tags,
  meta,
}: WrappedInstance): Registration {
  return { service, instance, addr: address, port, meta: { ...meta, weight, ...(tags.length > 0 && { tags }) } };
}

function expiryIn(text: string): number | undefined {
  const value = documentOf(text)?.expiresInSeconds;
  return typeof value === 'number' && value > 0 ? value * 1000 : undefined;
}

function errorOf({ status, text }: ExchangeAnswer): string {
  const error = documentOf(text)?.error;
  const words = typeof error === 'string' ? error : text;
  return `status ${status}${words.trim() === '' ? '' : `: ${quote(words, 200)}`}`;
}

function documentOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

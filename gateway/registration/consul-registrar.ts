// Registers an instance with an agent of Consul and keeps its check alive (HTTP API, `/v1/agent`).
import { formatAddress } from '../core/address.ts';
import { quote } from '../core/quote.ts';
import { type ExchangeAnswer, exchange } from './register-exchange.ts';
import type { HealthCheck, WrappedInstance } from './register-options.ts';
import type { Registrar } from './registrar.ts';

export interface ConsulRegistrarOptions {
  /** The agent; a path is put before its own. */
  readonly url: URL;
  /** Sent as `X-Consul-Token`; '' for none. */
  readonly token: string;
  readonly instance: WrappedInstance;
  readonly check: HealthCheck;
  readonly deregisterAfterMs: number;
}

const REQUEST_LIMIT_MS = 5000;
const CHECK_TIMEOUT_MS = 5000;

/** Makes the registrar; nothing is sent yet. */
export function createConsulRegistrar(options: ConsulRegistrarOptions): Registrar {
  const { token, instance, check } = options;
  const id = encodeURIComponent(instance.instance);
  const base = options.url.href.replace(/\/+$/, '');

  async function call(
    method: 'GET' | 'PUT',
    path: string,
    signal: AbortSignal,
    content?: unknown,
  ): Promise<ExchangeAnswer> {
    const url = new URL(`${base}/v1/agent/${path}`);
    const headers = token === '' ? {} : { 'x-consul-token': token };
    return exchange({ method, url, headers, content, limitMs: REQUEST_LIMIT_MS, signal });
  }

  return {
    keepsUnhealthy: true,
    checksItself: check.kind === 'http',
    beatMs: check.intervalMs,
    async register(isHealthy, signal) {
      expectOk(await call('PUT', 'service/register', signal, consulRegistration(options, isHealthy)));
    },
    async beat(fault, signal) {
      const state = fault === null ? 'pass' : 'fail';
      const note = encodeURIComponent(fault ?? 'the port answers');
      const answer =
        check.kind === 'http'
          ? await call('GET', `service/${id}`, signal)
          : await call('PUT', `check/${state}/service:${id}?note=${note}`, signal);
      if (isUnknown(answer)) return 'absent';
      expectOk(answer);
      return 'listed';
    },
    async deregister(signal) {
      const answer = await call('PUT', `service/deregister/${id}`, signal);
      if (!isUnknown(answer)) expectOk(answer);
    },
  };
}

/** The body of `PUT /v1/agent/service/register`. */
export function consulRegistration(
  { instance, check, deregisterAfterMs }: Pick<ConsulRegistrarOptions, 'instance' | 'check' | 'deregisterAfterMs'>,
  isHealthy: boolean,
) {
  const { address, port, weight } = instance;
  return {
    ID: instance.instance,
    Name: instance.service,
    Address: address,
    Port: port,
    Tags: instance.tags,
    // Consul has no weight 0: there only Weir's own word for it says that the instance takes no traffic.
    Meta: weight === 0 ? { ...instance.meta, weight: '0' } : instance.meta,
    Weights: { Passing: Math.max(weight, 1), Warning: 1 },
    Check: {
      Name: `${instance.service} by weir register`,
      ...(check.kind === 'http'
        ? {
            HTTP: `http://${formatAddress(address, port)}${check.path}`,
            Interval: `${check.intervalMs}ms`,
            Timeout: `${Math.min(check.intervalMs, CHECK_TIMEOUT_MS)}ms`,
          }
        : { TTL: `${check.ttlMs}ms` }),
      DeregisterCriticalServiceAfter: `${deregisterAfterMs}ms`,
      // What was just asked need not wait for the first round of the agent's own check.
      Status: isHealthy ? 'passing' : 'critical',
    },
  };
}

/** Before version 1.11 Consul answers 500 when it has no such check. */
function isUnknown({ status, text }: ExchangeAnswer): boolean {
  return status === 404 || (status === 500 && text.includes('does not have associated TTL'));
}

function expectOk({ status, text }: ExchangeAnswer): void {
  if (status !== 200) throw new Error(`status ${status}${text.trim() === '' ? '' : `: ${quote(text, 200)}`}`);
}

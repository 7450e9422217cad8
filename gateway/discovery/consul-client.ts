// The way to the agents of one Consul cluster: asks one question of one agent.
import { quote } from '../core/quote.ts';
import { decodeHealthService } from './consul-decode.ts';
import type { ConsulReply } from './consul-dialogue.ts';
import { readConsulHead } from './consul-head.ts';
import { type ConsulQuestion, questionDeadlineMs, questionTarget } from './consul-question.ts';
import { createGetPool, getJson } from './http-get.ts';

export interface ConsulClientOptions {
  /** URLs of agents of one cluster; a path is put before Consul's own. */
  readonly agents: readonly string[];
  readonly token: string;
  readonly datacenter: string;
}

export interface ConsulClient {
  /** Asks agent number `agent` of the list, counted on without end. An error is a sentence without secrets. */
  ask(question: ConsulQuestion, agent: number, signal: AbortSignal): Promise<ConsulReply | { readonly error: string }>;
  /** Closes every connection. */
  stop(): Promise<void>;
}

/** Most connections to one agent: it refuses more than 200 from one address. */
export const MAX_CONNECTIONS = 128;

/** Throws when `agents` is empty or has something that is no URL. */
export function createConsulClient({ agents, token, datacenter }: ConsulClientOptions): ConsulClient {
  if (agents.length === 0) throw new Error('Consul needs the URL of at least one agent');
  const ways = agents.map((agent) => {
    const url = new URL(agent);
    return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, ''), pool: createGetPool(url, MAX_CONNECTIONS) };
  });
  const headers: Readonly<Record<string, string>> = token === '' ? {} : { 'x-consul-token': token };
  const hideToken = (text: string) => (token === '' ? text : text.replaceAll(token, '***'));

  return {
    async ask(question, agent, signal) {
      const way = ways[agent % ways.length];
      if (way === undefined) throw new Error(`no agent ${agent}`);
      const result = await getJson(way.pool, {
        target: way.prefix + questionTarget(question, datacenter),
        headers,
        deadlineMs: questionDeadlineMs(question),
        signal,
      });
      const told = (error: string) => ({
        error: hideToken(`Consul at ${way.origin} on ${quote(question.service)}: ${error}`),
      });
      if (result.kind === 'failure') return told(result.error);
      const decoded = decodeHealthService(result.text);
      if (decoded.kind === 'undecodable') return told(decoded.error);
      return { ...decoded, head: readConsulHead(result.headers) };
    },
    async stop() {
      await Promise.all(ways.map(({ pool }) => pool.destroy()));
    },
  };
}

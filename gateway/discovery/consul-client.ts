// The way to the agents of one Consul cluster: asks one question of one agent.
import { quote } from '../core/quote.ts';
import { type ConsulHead, readConsulHead } from './consul-head.ts';
import { type ConsulListQuestion, type ConsulQuestion, questionDeadlineMs, questionTarget } from './consul-question.ts';
import { createGetPool, getJson } from './http-get.ts';
import type { QueryMeter } from './source.ts';
import type { TlsFiles } from './tls-connector.ts';

export interface ConsulClientOptions {
  /** URLs of agents of one cluster; a path is put before Consul's own. */
  readonly agents: readonly string[];
  readonly token: string;
  readonly datacenter: string;
  /** Of `https` agents: files in PEM; '' for none. */
  readonly tls: TlsFiles;
  readonly meter?: QueryMeter | undefined;
}

/** An answer as it came: the body is JSON by its type, not yet read. */
export interface ConsulDocument {
  readonly text: string;
  readonly head: ConsulHead;
}

/** A sentence for people, without secrets. */
export interface ConsulError {
  readonly error: string;
}

export interface ConsulClient {
  /** Asks agent number `agent` of the list, counted on without end. */
  ask(
    question: ConsulQuestion | ConsulListQuestion,
    agent: number,
    signal: AbortSignal,
  ): Promise<ConsulDocument | ConsulError>;
  /** The sentence for an answer that was no answer after all. */
  refuse(question: ConsulQuestion | ConsulListQuestion, agent: number, error: string): ConsulError;
  /** Closes every connection. */
  stop(): Promise<void>;
}

/**
 * Most connections to one agent. It refuses more than 200 from one address, and counts those of a gateway that has ended
 * until their blocking queries have (up to about a minute): the next one needs as many again.
 */
export const MAX_CONNECTIONS = 96;

/** Throws when `agents` is empty or has something that is no URL. */
export function createConsulClient({ agents, token, datacenter, tls, meter }: ConsulClientOptions): ConsulClient {
  if (agents.length === 0) throw new Error('Consul needs the URL of at least one agent');
  const ways = agents.map((agent) => {
    const url = new URL(agent);
    const pool = createGetPool(url, { connections: MAX_CONNECTIONS, tls });
    return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, ''), pool };
  });
  const headers: Readonly<Record<string, string>> = token === '' ? {} : { 'x-consul-token': token };
  const hideToken = (text: string) => (token === '' ? text : text.replaceAll(token, '***'));
  const wayTo = (agent: number) => {
    const way = ways[agent % ways.length];
    if (way === undefined) throw new Error(`no agent ${agent}`);
    return way;
  };
  const refuse: ConsulClient['refuse'] = (question, agent, error) => {
    const subject = 'path' in question ? question.path : question.service;
    return { error: hideToken(`Consul at ${wayTo(agent).origin} on ${quote(subject)}: ${error}`) };
  };

  return {
    async ask(question, agent, signal) {
      const { pool, prefix } = wayTo(agent);
      const target = prefix + questionTarget(question, datacenter);
      const deadlineMs = questionDeadlineMs(question);
      const result = await getJson(pool, { target, headers, deadlineMs, signal, meter });
      if (result.kind === 'failure') return refuse(question, agent, result.error);
      return { text: result.text, head: readConsulHead(result.headers) };
    },
    refuse,
    async stop() {
      await Promise.all(ways.map(({ pool }) => pool.destroy()));
    },
  };
}

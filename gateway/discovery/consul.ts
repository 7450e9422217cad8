// The source that asks Consul: one watch a service, blocking where it may hold a connection, woken by a bell beyond that.
import type { Clock } from '../core/clock.ts';
import type { InstanceStatus } from '../core/instance.ts';
import { ConsulBell } from './consul-bell.ts';
import { createConsulClient, MAX_CONNECTIONS } from './consul-client.ts';
import { ConsulDialogue } from './consul-dialogue.ts';
import { CONSUL_LISTS } from './consul-lists.ts';
import type { Consistency } from './consul-question.ts';
import { ConsulWatch } from './consul-watch.ts';
import { FirstAgent } from './first-agent.ts';
import { Slots } from './slots.ts';
import type { DiscoverySource, QueryMeter } from './source.ts';
import { Sweep } from './sweep.ts';
import type { TlsFiles } from './tls-connector.ts';
import { Turnstile } from './turnstile.ts';

export interface ConsulSourceOptions {
  /** URLs of agents of one cluster: the first is asked; after an error the next, until the first works again. */
  readonly agents: readonly string[];
  /** Sent as X-Consul-Token; '' for none. */
  readonly token: string;
  /** '' for the agent's own. */
  readonly datacenter: string;
  /** How long Consul may hold a blocking query, in milliseconds; never more than ten minutes. */
  readonly waitMs: number;
  readonly consistency: Consistency;
  readonly accept: readonly Extract<InstanceStatus, 'passing' | 'warning'>[];
  /** Of `https` agents: files in PEM; '' for none. */
  readonly tls: TlsFiles;
  /** Milliseconds after which an empty answer is asked for again, with a consistent read, before it is reported. */
  readonly confirmEmptyMs: number;
  /** Milliseconds between two tries of the first agent while another one is asked; 30 s when absent. */
  readonly firstAgentRetryMs?: number;
  readonly clock: Clock;
  readonly meter?: QueryMeter | undefined;
}

/** Connections for questions that are answered at once, of the services that hold none. */
const PASSING_LANES = 16;

/** Services that hold a connection with their blocking query. */
const MAX_BLOCKING = MAX_CONNECTIONS - PASSING_LANES - CONSUL_LISTS.length;

const FIRST_AGENT_RETRY_MS = 30_000;

/** Makes the source (SPEC section 5). Throws when an agent's URL is none. */
export function createConsulSource(options: ConsulSourceOptions): DiscoverySource {
  const { accept, waitMs, consistency, confirmEmptyMs, clock, agents } = options;
  const { firstAgentRetryMs = FIRST_AGENT_RETRY_MS } = options;
  const agentCount = agents.length;
  const client = createConsulClient(options);
  const slots = new Slots(MAX_BLOCKING);
  const turnstile = new Turnstile(PASSING_LANES);
  const watches = new Set<ConsulWatch>();
  let bell: ConsulBell | undefined;

  const firstAgent = new FirstAgent({
    client,
    agentCount,
    retryMs: firstAgentRetryMs,
    onReturn() {
      bell?.preferFirst();
      for (const watch of watches) watch.preferFirst();
    },
  });
  const sweep = new Sweep(clock, () => {
    // Services that changed of late stand last and are asked first: the next change is most often one of theirs.
    for (const watch of [...watches].reverse()) watch.ring('perhaps');
  });

  function startBell(): void {
    if (bell !== undefined) return;
    bell = new ConsulBell({
      client,
      firstAgent,
      waitMs,
      consistency,
      clock,
      onChange({ services, isEverywhere }) {
        for (const watch of watches) if (services.has(watch.service)) watch.ring('news');
        if (isEverywhere) sweep.request();
      },
      onHeard() {
        for (const watch of watches) watch.distrustIndex();
        sweep.request();
      },
      onUnheard() {
        // Whoever asks nothing meanwhile does not notice that the agent was away.
        for (const watch of watches) watch.onOutage();
      },
    });
    bell.start();
  }

  return {
    name: 'consul',
    accept,
    watch({ service, resumeIndex, hasPool = false, onEvent }) {
      const dialogue = new ConsulDialogue({
        service,
        agentCount,
        resumeIndex,
        hasPool,
        waitMs,
        consistency,
        confirmEmptyMs,
        clock,
      });
      const watch: ConsulWatch = new ConsulWatch({
        service,
        client,
        slots,
        turnstile,
        firstAgent,
        dialogue,
        clock,
        onEvent,
        onOverflow: startBell,
        // A server that is behind may give an old answer right after the bell: then only asking again helps.
        isRungForAll: () => bell?.isListening === true && consistency !== 'stale',
        // As seldom as a blocking query ends without news.
        quietMs: waitMs,
        onNews() {
          sweep.foundNews();
          watches.delete(watch);
          watches.add(watch);
        },
      });
      watches.add(watch);
      void watch.run().finally(() => watches.delete(watch));
      return watch;
    },
    async stop() {
      firstAgent.stop();
      bell?.stop();
      sweep.stop();
      for (const watch of watches) watch.stop();
      await client.stop();
    },
  };
}

// Reloading: loads the files anew, puts in force what is valid, and remembers what is not.
import type { CheckRoutes } from './config/cross-checks.ts';
import type { GatewayConfig } from './config/gateway-schema.ts';
import type { LastGood, LoadedFiles } from './config/load.ts';
import { formatProblem } from './config/problem.ts';
import { type InForce, isSame, planReload, type Quarantined, type ReloadPlan } from './config/reload.ts';
import type { Log } from './core/log.ts';

export interface ReloaderOptions {
  readonly inForce: InForce;
  /** Loads all files; `lastGood` counts while gateway.yaml is not valid. */
  readonly load: (lastGood: LastGood) => Promise<LoadedFiles>;
  readonly checkRoutes: CheckRoutes;
  readonly log: Log;
  /** Puts the plan in force; what `changes` says is different from before. */
  readonly apply: (plan: ReloadPlan, changes: Changes) => Promise<void>;
}

/** What a reload changes. */
export interface Changes {
  /** Names of routes. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Keys of gateway.yaml that take effect now, by new workers. */
  readonly gatewayKeys: readonly string[];
  /** Keys of gateway.yaml that take effect when the gateway is started anew. */
  readonly restartKeys: readonly string[];
}

export const RELOAD_RESULTS = ['applied', 'unchanged', 'quarantined', 'failed'] as const;
export type ReloadResult = (typeof RELOAD_RESULTS)[number];

export interface ReloadReport extends Changes {
  readonly result: ReloadResult;
  /** Each with its problems as lines. */
  readonly quarantined: readonly QuarantinedFile[];
}

export interface QuarantinedFile {
  readonly file: string;
  readonly problems: readonly string[];
  readonly inForce: 'last good version' | 'nothing';
}

/** Sections of gateway.yaml that only a start can change: they belong to the process, not to its workers. */
const RESTART_KEYS: readonly string[] = ['admin', 'workers', 'log', 'discovery.embeddedRegistry', 'discovery.snapshot'];

export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #counts = new Map<ReloadResult, number>();
  #inForce: InForce;
  #quarantined: readonly Quarantined[] = [];
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#inForce = options.inForce;
  }

  get inForce(): InForce {
    return this.#inForce;
  }

  get quarantined(): readonly QuarantinedFile[] {
    return this.#quarantined.map(describe);
  }

  /** How many reloads ended so. */
  count(result: ReloadResult): number {
    return this.#counts.get(result) ?? 0;
  }

  /** Reloads once what runs already has ended. Rejects when the files cannot be loaded at all. */
  reload(why: string): Promise<ReloadReport> {
    const next = this.#running.then(() => this.#reload(why));
    this.#running = next.catch(() => undefined);
    return next;
  }

  async #reload(why: string): Promise<ReloadReport> {
    try {
      const before = this.#inForce;
      const plan = planReload(before, await this.#options.load(before), this.#options.checkRoutes);
      const changes = compare(before, plan, this.#options.inForce.gateway);
      if (hasChanges(changes)) await this.#options.apply(plan, changes);
      this.#inForce = plan;
      this.#quarantined = plan.quarantined;
      return this.#report(why, changes);
    } catch (error) {
      this.#countAs('failed');
      this.#options.log.error({ why, err: error }, 'reload failed: everything stays as it was');
      throw error;
    }
  }

  #report(why: string, changes: Changes): ReloadReport {
    const { log } = this.#options;
    const { quarantined } = this;
    const result = quarantined.length > 0 ? 'quarantined' : hasChanges(changes) ? 'applied' : 'unchanged';
    this.#countAs(result);
    for (const { file, problems, inForce } of quarantined) {
      log.error({ file, problems, inForce }, 'configuration file is quarantined');
    }
    log.info({ why, result, ...changes }, 'configuration reloaded');
    return { result, ...changes, quarantined };
  }

  #countAs(result: ReloadResult): void {
    this.#counts.set(result, this.count(result) + 1);
  }
}

/** The gateway.yaml that is in force after a reload: sections that only a start can change stay. */
export function liveGateway(before: GatewayConfig, after: GatewayConfig): GatewayConfig {
  const { embeddedRegistry, snapshot } = before.discovery;
  const { embeddedRegistry: _registry, ...discovery } = after.discovery;
  return {
    ...after,
    admin: before.admin,
    workers: before.workers,
    log: before.log,
    discovery: { ...discovery, snapshot, ...(embeddedRegistry !== undefined && { embeddedRegistry }) },
  };
}

function compare(before: InForce, after: InForce, started: GatewayConfig): Changes {
  const names = (files: readonly string[], of: InForce) => files.map((file) => of.routes.get(file)?.name ?? file);
  const [old, now] = [[...before.routes.keys()], [...after.routes.keys()]];
  const keys = changedKeys(before.gateway, after.gateway);
  return {
    added: names(
      now.filter((file) => !before.routes.has(file)),
      after,
    ),
    changed: names(
      now.filter((file) => before.routes.has(file) && !isSame(before.routes.get(file), after.routes.get(file))),
      after,
    ),
    removed: names(
      old.filter((file) => !after.routes.has(file)),
      before,
    ),
    gatewayKeys: keys.filter((key) => !isRestartKey(key) && key !== 'routes'),
    restartKeys: changedKeys(started, after.gateway).filter(isRestartKey),
  };
}

/** Keys as they are written, one level deep, and two within `discovery`. */
function changedKeys(before: GatewayConfig, after: GatewayConfig): string[] {
  const { discovery: oldDiscovery, ...old } = before;
  const { discovery: newDiscovery, ...now } = after;
  return [...differing(old, now, ''), ...differing(oldDiscovery, newDiscovery, 'discovery.')];
}

function differing(before: object, after: object, prefix: string): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((key) => text(old.get(key)) !== text(now.get(key)))
    .map((key) => prefix + key.replace(/Ms$/, ''));
}

function text(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (part === Number.POSITIVE_INFINITY ? 'off' : part)) ?? '';
}

function isRestartKey(key: string): boolean {
  return RESTART_KEYS.includes(key);
}

function hasChanges({ added, changed, removed, gatewayKeys }: Changes): boolean {
  return [added, changed, removed, gatewayKeys].some((list) => list.length > 0);
}

function describe({ file, problems, hasLastGood }: Quarantined): QuarantinedFile {
  return { file, problems: problems.map(formatProblem), inForce: hasLastGood ? 'last good version' : 'nothing' };
}

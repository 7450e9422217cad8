// Composition root of the main thread: discovery's book, the workers, the admin address, start and stop.
import { availableParallelism } from 'node:os';
import { AdminServer } from './admin/admin-server.ts';
import { upstreamsDocument } from './admin/upstreams-document.ts';
import type { GatewayConfig } from './config/gateway-schema.ts';
import type { RouteConfig } from './config/route-schema.ts';
import { formatAddress } from './core/address.ts';
import { systemClock as clock } from './core/clock.ts';
import type { GatewayState } from './core/gateway-state.ts';
import { DiscoveryBook } from './discovery/discovery-book.ts';
import { viewEndpoints } from './pool/view.ts';
import { startRegistry } from './registration/registry-server.ts';
import { EndpointCell } from './shared/endpoint-cell.ts';
import { allocateGatewayCell, GatewayCell } from './shared/gateway-cell.ts';
import { currentLeader, releaseLease } from './shared/leader-lease.ts';
import { allocateRouteCell, RouteCell } from './shared/route-cell.ts';
import { allocateSourceCell } from './shared/source-cell.ts';
import { type LogOutput, StandardOutput } from './telemetry/log-output.ts';
import { createLogger } from './telemetry/logger.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { Crew, lanesFor, type Member } from './threads/crew.ts';
import type { FromWorker } from './threads/messages.ts';
import { VERSION } from './version.ts';

/** How long the first answers of the sources are waited for before the door opens without them. */
const FIRST_ANSWERS_MS = 5000;

/** Whether several sockets may listen on one port and share its connections. */
const HAS_REUSE_PORT = process.platform === 'linux' || process.platform === 'freebsd';

export interface RunningGateway {
  /** Why the gateway does not take traffic; null when it does. */
  notReady(): string | null;
  /** Resolves when the gateway takes traffic; rejects when a listener cannot be had. */
  readonly ready: Promise<void>;
  /** Lets what is under way end, then stops everything. */
  stop(): Promise<void>;
}

/** Starts the gateway; rejects when the admin address or the registry's cannot be had. */
export async function startGateway(gateway: GatewayConfig, routes: readonly RouteConfig[]): Promise<RunningGateway> {
  const supervisor = new Supervisor(gateway, routes);
  await supervisor.start();
  return supervisor;
}

class Supervisor implements RunningGateway {
  readonly ready: Promise<void>;
  readonly #gateway: GatewayConfig;
  readonly #output: LogOutput = new StandardOutput();
  readonly #log: ReturnType<typeof createLogger>;
  readonly #lanes: number;
  readonly #cell: GatewayCell;
  readonly #cellBuffer: SharedArrayBuffer;
  readonly #routeCells: ReadonlyMap<string, SharedArrayBuffer>;
  readonly #sourceCells: ReadonlyMap<string, SharedArrayBuffer>;
  readonly #book: DiscoveryBook;
  readonly #crew: Crew;
  readonly #admin: AdminServer;
  readonly #startedAtMs = clock.wallMs();
  readonly #readiness = Promise.withResolvers<void>();
  #registry: Awaited<ReturnType<typeof startRegistry>> | undefined;
  #firstAnswersTimer: NodeJS.Timeout | undefined;
  #isOpen = false;
  #isReady = false;
  #isStopping = false;

  constructor(gateway: GatewayConfig, routes: readonly RouteConfig[]) {
    this.#gateway = gateway;
    this.#log = createLogger({ level: gateway.log.level, output: this.#output });
    const size = this.#crewSize();
    this.#lanes = lanesFor(size);
    this.#cellBuffer = allocateGatewayCell(this.#lanes);
    this.#cell = new GatewayCell(this.#cellBuffer, -1);
    this.#routeCells = new Map(routes.map(({ name }) => [name, allocateRouteCell(this.#lanes)]));
    const sources = new Set(routes.map(({ source }) => source));
    this.#sourceCells = new Map([...sources].map((source) => [source, allocateSourceCell(this.#lanes)]));
    this.ready = this.#readiness.promise;
    this.#book = new DiscoveryBook({
      snapshotFile: gateway.discovery.snapshot,
      services: new Map(routes.map(({ service, source }) => [service, source])),
      lanes: this.#lanes,
      clock,
      log: this.#log,
      onSnapshot: (snapshot) => this.#crew.tellAll({ kind: 'snapshot', snapshot }),
      onFirstAnswers: () => this.#openDoor(),
    });
    this.#crew = new Crew({
      size,
      log: this.#log,
      drainMs: gateway.shutdown.drainMs,
      birth: () => ({
        gateway,
        routes,
        routeCells: this.#routeCells,
        sourceCells: this.#sourceCells,
        gatewayCell: this.#cellBuffer,
        services: this.#book.snapshots(),
        version: this.#book.version,
        reusePort: HAS_REUSE_PORT,
      }),
      onMessage: (member, message) => this.#heard(member, message),
      onGone: (member) => this.#giveBack(member),
    });
    this.#admin = this.#createAdmin();
  }

  async start(): Promise<void> {
    const { embeddedRegistry } = this.#gateway.discovery;
    if (embeddedRegistry !== undefined) {
      this.#registry = await startRegistry({ ...embeddedRegistry, logger: registryLog(this.#log) });
      this.#log.info({ address: this.#registry.url }, 'embedded registry answers');
    }
    await this.#book.restore();
    await this.#admin.listen();
    this.#crew.start();
    this.#firstAnswersTimer = setTimeout(() => this.#openDoor(), FIRST_ANSWERS_MS);
    if (this.#book.hasFirstAnswers()) this.#openDoor();
  }

  notReady(): string | null {
    if (this.#isStopping) return 'draining';
    if (this.#isReady) {
      const isServing = this.#crew.members().some(({ state }) => state === 'listening');
      return isServing ? null : 'no worker is listening';
    }
    return this.#isOpen ? 'workers are starting' : 'waiting for the first answers of discovery';
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    clearTimeout(this.#firstAnswersTimer);
    this.#log.info({}, 'stopping: no new connections, what is under way may end');
    await this.#crew.drain();
    await this.#book.stop();
    await this.#admin.stop();
    await this.#registry?.stop();
    this.#log.info({}, 'stopped');
    this.#output.flushSync();
  }

  #crewSize(): number {
    const wanted = this.#gateway.workers === 'auto' ? availableParallelism() : this.#gateway.workers;
    if (wanted === 1 || HAS_REUSE_PORT) return wanted;
    this.#log.warn({ wanted }, 'this platform cannot share a port between workers: one worker only');
    return 1;
  }

  #heard(member: Member, message: FromWorker): void {
    switch (message.kind) {
      case 'booted':
        if (this.#isOpen) this.#crew.tell(member, { kind: 'listen' });
        return;
      case 'listening':
        this.#checkReady();
        return;
      case 'failed':
        this.#log.error({ worker: member.id, why: message.why }, 'worker cannot listen');
        this.#readiness.reject(new Error(message.why));
        return;
      case 'leads':
        this.#log.info({ worker: member.id, term: message.term }, 'worker leads discovery');
        this.#crew.tell(member, { kind: 'lead', term: message.term, resume: this.#book.resumePoints() });
        return;
      case 'discovered':
        // The word of a leader that has been deposed meanwhile counts no more.
        if (message.term === currentLeader(this.#cell.words).term) this.#book.take(message.update);
        return;
      case 'log':
        this.#output.write(message.lines);
        return;
      case 'drained':
        return;
    }
  }

  /** Lets the workers listen: the pools are known, or have been waited for long enough. */
  #openDoor(): void {
    if (this.#isOpen || this.#isStopping) return;
    this.#isOpen = true;
    clearTimeout(this.#firstAnswersTimer);
    // A worker that has not booted yet is told when it says that it has.
    for (const member of this.#crew.members()) {
      if (member.state === 'booted') this.#crew.tell(member, { kind: 'listen' });
    }
  }

  #checkReady(): void {
    if (this.#isReady || !this.#crew.members().every(({ state }) => state === 'listening')) return;
    this.#isReady = true;
    const listen = this.#gateway.listen.map(({ host, port }) => formatAddress(host, port));
    const unconfirmed = this.#book.unconfirmed();
    this.#log.info({ listen, workers: this.#crew.members().length, unconfirmed }, 'ready');
    this.#readiness.resolve();
  }

  /** A worker is gone: its connections, requests, probes and lease go back. */
  #giveBack({ lane }: Member): void {
    releaseLease(this.#cell.words, lane + 1);
    this.#cell.abandonLane(lane);
    for (const buffer of this.#routeCells.values()) new RouteCell(buffer, -1).abandonLane(lane);
    for (const { endpoints } of this.#book.snapshots()) {
      for (const endpoint of endpoints) new EndpointCell(endpoint.cell, -1).abandonLane(lane, clock.nowMs());
    }
  }

  #state(): GatewayState {
    const { term, worker: holder } = currentLeader(this.#cell.words);
    const members = this.#crew.members();
    return {
      version: VERSION,
      pid: process.pid,
      startedAtMs: this.#startedAtMs,
      leader: { worker: members.find(({ lane }) => lane + 1 === holder)?.id ?? null, term },
      workers: members.map(({ id, lane }) => {
        const { downstream, upstream, lagMs, snapshot } = this.#cell.worker(lane);
        return {
          id,
          leader: lane + 1 === holder,
          snapshot,
          connections: downstream,
          upstreamConnections: upstream,
          eventLoopLagMs: lagMs,
        };
      }),
      workerRestarts: this.#crew.restarts,
      logLinesDropped: this.#output.dropped,
      snapshotVersion: this.#book.version,
      snapshotTakenAtMs: this.#book.takenAtMs,
      snapshotFrom: this.#book.from,
      statuses: this.#book.statuses(),
    };
  }

  #createAdmin(): AdminServer {
    const view = { lanes: this.#lanes, clock };
    const metrics = createMetrics({
      state: () => this.#state(),
      snapshots: () => this.#book.snapshots(),
      endpoints: (snapshot) => viewEndpoints(snapshot, view),
      routeCells: this.#routeCells,
      sourceCells: this.#sourceCells,
    });
    return new AdminServer({
      ...this.#gateway.admin,
      upstreams: () => upstreamsDocument(this.#state(), this.#book.snapshots(), view),
      metrics: async () => ({ contentType: metrics.contentType, text: await metrics.metrics() }),
      notReady: () => this.notReady(),
      restartWorker: (id, isAbrupt) => this.#crew.restart(id, isAbrupt),
    });
  }
}

function registryLog(log: ReturnType<typeof createLogger>) {
  return {
    info: (message: string) => log.info({ room: 'registry' }, message),
    warn: (message: string) => log.warn({ room: 'registry' }, message),
    error: (message: string) => log.error({ room: 'registry' }, message),
  };
}

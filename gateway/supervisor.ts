// Composition root of the main thread: discovery's book, the workers, the admin address, start and stop.
import { availableParallelism } from 'node:os';
import { abandonLane } from './abandoned-lane.ts';
import type { AdminServer } from './admin/admin-server.ts';
import { createAdmin } from './admin-wiring.ts';
import type { GatewayConfig } from './config/gateway-schema.ts';
import { type ReloadPlan, routesOf } from './config/reload.ts';
import { routeFilesOf } from './config/route-files.ts';
import type { RouteConfig } from './config/route-schema.ts';
import { formatAddress } from './core/address.ts';
import { systemClock as clock } from './core/clock.ts';
import { DiscoveryBook } from './discovery/discovery-book.ts';
import { FileWatch } from './file-watch.ts';
import { GatewayView } from './gateway-view.ts';
import { ListenerCertificates } from './listener-certificates.ts';
import { Maintenance } from './maintenance.ts';
import { startRegistry } from './registration/registry-server.ts';
import { type Changes, liveGateway, Reloader, type ReloaderOptions } from './reloader.ts';
import { FIRST_ANSWERS_MS, RouteSwitch } from './route-switch.ts';
import { RoutesInForce, servicesOf } from './routes-in-force.ts';
import type { CellPlace } from './shared/cell.ts';
import { allocateGatewayCell, GatewayCell } from './shared/gateway-cell.ts';
import { currentLeader } from './shared/leader-lease.ts';
import { allocateTlsCell } from './shared/tls-cell.ts';
import { BackgroundOutput, type LogOutput } from './telemetry/log-output.ts';
import { createLogger } from './telemetry/logger.ts';
import { Crew, lanesFor, type Member } from './threads/crew.ts';
import type { FromWorker } from './threads/messages.ts';

/** Whether several sockets may listen on one port and share its connections. */
const HAS_REUSE_PORT = process.platform === 'linux' || process.platform === 'freebsd';

export interface RunningGateway {
  /** Why the gateway does not take traffic; null when it does. */
  notReady(): string | null;
  /** Resolves when the gateway takes traffic; rejects when a listener cannot be had. */
  readonly ready: Promise<void>;
  /** Loads the configuration anew, as after SIGHUP. */
  reload(): Promise<void>;
  /** Opens the file of the log anew. */
  reopenLog(): void;
  /** Lets what is under way end, then stops everything. */
  stop(): Promise<void>;
}

/** What to run. */
export interface StartOptions {
  readonly gateway: GatewayConfig;
  readonly routes: readonly RouteConfig[];
  /** Where it is loaded from anew; absent for a gateway that is never reloaded. */
  readonly files?: ConfigFiles;
}

/** The files of a configuration. */
export interface ConfigFiles extends Pick<ReloaderOptions, 'inForce' | 'load' | 'checkRoutes'> {
  readonly gatewayFile: string;
}

/** Starts the gateway; rejects when the admin address or the registry's cannot be had. */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const supervisor = new Supervisor(options);
  await supervisor.start();
  return supervisor;
}

class Supervisor implements RunningGateway {
  readonly ready: Promise<void>;
  #gateway: GatewayConfig;
  readonly #output: LogOutput;
  readonly #log: ReturnType<typeof createLogger>;
  readonly #cell: GatewayCell;
  readonly #cellBuffer: CellPlace;
  readonly #tlsCell: CellPlace;
  readonly #certificates: ListenerCertificates;
  readonly #routes: RoutesInForce;
  readonly #book: DiscoveryBook;
  readonly #crew: Crew;
  readonly #switch: RouteSwitch;
  readonly #admin: AdminServer;
  readonly #maintenance: Maintenance;
  readonly #view: GatewayView;
  readonly #reloader: Reloader | undefined;
  readonly #watch: FileWatch | undefined;
  readonly #readiness = Promise.withResolvers<void>();
  #registry: Awaited<ReturnType<typeof startRegistry>> | undefined;
  #firstAnswersTimer: NodeJS.Timeout | undefined;
  #isOpen = false;
  #isReady = false;
  #isStopping = false;

  constructor({ gateway, routes, files }: StartOptions) {
    this.#gateway = gateway;
    this.#output = new BackgroundOutput(gateway.log);
    this.#log = createLogger({ level: gateway.log.level, output: this.#output });
    const size = this.#crewSize();
    const lanes = lanesFor(size);
    this.#cellBuffer = allocateGatewayCell(lanes);
    this.#cell = new GatewayCell(this.#cellBuffer, -1);
    this.#tlsCell = allocateTlsCell(lanes);
    this.#certificates = new ListenerCertificates({
      clock,
      log: this.#log,
      onChange: (tls) => this.#crew.tellAll({ kind: 'certificates', tls }),
    });
    this.#routes = new RoutesInForce(routes, lanes);
    this.ready = this.#readiness.promise;
    this.#book = new DiscoveryBook({
      snapshotFile: gateway.discovery.snapshot,
      services: servicesOf(routes),
      lanes,
      clock,
      log: this.#log,
      onSnapshot: (snapshot) => this.#crew.tellAll({ kind: 'snapshot', snapshot }),
    });
    this.#crew = new Crew({
      size,
      log: this.#log,
      drainMs: () => this.#gateway.shutdown.drainMs,
      birth: () => ({
        gateway: this.#gateway,
        routing: this.#switch.routing(),
        sourceCells: this.#routes.sourceCells,
        gatewayCell: this.#cellBuffer,
        tlsCell: this.#tlsCell,
        tls: this.#certificates.inForce,
        version: this.#book.version,
        reusePort: HAS_REUSE_PORT,
      }),
      onMessage: (member, message) => this.#heard(member, message),
      onGone: ({ lane }) => abandonLane(lane, { cell: this.#cell, routes: this.#routes, book: this.#book }),
    });
    this.#switch = new RouteSwitch({
      routes: this.#routes,
      book: this.#book,
      crew: this.#crew,
      words: this.#cell.words,
    });
    this.#maintenance = new Maintenance(this.#log);
    this.#view = new GatewayView({
      cell: this.#cell,
      crew: this.#crew,
      book: this.#book,
      routes: this.#routes,
      output: this.#output,
      maintenance: this.#maintenance,
      certificates: this.#certificates,
      listen: () => this.#gateway.listen,
    });
    if (files !== undefined) {
      const apply = (plan: ReloadPlan, changes: Changes) => this.#apply(plan, changes);
      const load: ReloaderOptions['load'] = async (lastGood) => {
        // What changes from here on is loaded by the next reload.
        await this.#watch?.markLoaded();
        await this.#certificates.refresh();
        return files.load(lastGood);
      };
      const reloader = new Reloader({ ...files, load, log: this.#log, apply });
      this.#reloader = reloader;
      this.#watch = new FileWatch({
        files: () => [files.gatewayFile, ...routesOf(reloader.inForce).flatMap(routeFilesOf)],
        routesFolder: () => reloader.inForce.gateway.routes,
        onChange: async () => void (await reloader.reload('the files have changed').catch(() => undefined)),
      });
    }
    this.#admin = createAdmin({
      gateway,
      view: this.#view,
      book: this.#book,
      routes: this.#routes,
      crew: this.#crew,
      maintenance: this.#maintenance,
      log: this.#log,
      gatewayInForce: () => this.#gateway,
      notReady: () => this.notReady(),
      reloader: this.#reloader,
      certificates: this.#certificates,
      tlsCell: this.#tlsCell,
    });
  }

  async start(): Promise<void> {
    // First: what changes from here on is noticed.
    await this.#watch?.start();
    await this.#certificates.start(this.#gateway.listen);
    const { embeddedRegistry } = this.#gateway.discovery;
    if (embeddedRegistry !== undefined) {
      this.#registry = await startRegistry({ ...embeddedRegistry, log: this.#log.child({ room: 'registry' }) });
      this.#log.info({ address: this.#registry.url }, 'embedded registry answers');
    }
    await this.#book.restore();
    await this.#admin.listen();
    this.#crew.start();
    this.#firstAnswersTimer = setTimeout(() => this.#openDoor(), FIRST_ANSWERS_MS);
    void this.#book.whenHeard().then(() => this.#openDoor());
  }

  notReady(): string | null {
    if (this.#isStopping) return 'draining';
    if (this.#isReady) {
      const isServing = this.#crew.members().some(({ state }) => state === 'listening');
      return isServing ? null : 'no worker is listening';
    }
    return this.#isOpen ? 'workers are starting' : 'waiting for the first answers of discovery';
  }

  async reload(): Promise<void> {
    await this.#reloader?.reload('SIGHUP').catch(() => undefined);
  }

  reopenLog(): void {
    this.#output.reopen();
    this.#log.info({}, 'the log was opened anew');
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#watch?.stop();
    this.#certificates.stop();
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
        if (this.#isReady) this.#crew.dismiss(member);
        else this.#readiness.reject(new Error(message.why));
        return;
      case 'leads':
        this.#log.info({ worker: member.id, term: message.term }, 'worker leads discovery');
        this.#crew.tell(member, this.#switch.leadFrom(message.term));
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
    const members = this.#crew.members();
    const listening = new Set(members.filter(({ state }) => state === 'listening').map(({ id }) => id));
    // Of one that is replaced already, the one before it need not listen.
    if (this.#isReady || !members.every(({ id }) => listening.has(id))) return;
    this.#isReady = true;
    const listen = this.#gateway.listen.map(({ host, port }) => formatAddress(host, port));
    const unconfirmed = this.#book.unconfirmed();
    this.#log.info({ listen, workers: listening.size, unconfirmed }, 'ready');
    this.#readiness.resolve();
  }

  /** Puts in force what a reload has found. */
  async #apply(plan: ReloadPlan, { added, changed, removed, gatewayKeys }: Changes): Promise<void> {
    if (gatewayKeys.length > 0) await this.#certificates.replace(plan.gateway.listen);
    this.#gateway = liveGateway(this.#gateway, plan.gateway);
    if (added.length + changed.length + removed.length > 0) {
      await this.#switch.replace(routesOf(plan), new Set([...added, ...changed]));
      this.#maintenance.keepOnly(new Set(servicesOf(this.#routes.routes).keys()));
    }
    // Workers are born with what gateway.yaml says: new ones take over, the old ones finish what they have.
    if (gatewayKeys.length > 0) this.#crew.replaceAll();
  }
}

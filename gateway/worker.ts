// Composition root of a worker: the data plane, and discovery while the worker leads.
import { parentPort, workerData } from 'node:worker_threads';
import { Gatehouse } from './auth/gatehouse.ts';
import { systemClock as clock } from './core/clock.ts';
import { Asker } from './discovery/asker.ts';
import { createSourceMaker } from './discovery/sources.ts';
import { DataPlane } from './proxy/data-plane.ts';
import { GatewayCell } from './shared/gateway-cell.ts';
import { claimLease, releaseLease } from './shared/leader-lease.ts';
import { SourceCell } from './shared/source-cell.ts';
import { TlsCell } from './shared/tls-cell.ts';
import { accessLog } from './telemetry/access-log.ts';
import { createLogger, LogRelay } from './telemetry/logger.ts';
import type { FromWorker, ToWorker, WorkerBirth } from './threads/messages.ts';
import { VERSION } from './version.ts';

/** How often the lease is renewed or looked at: a lost leader is replaced within a second. */
const HEARTBEAT_MS = 250;

/** How long a worker that goes waits for the collector to take the last spans. */
const LAST_SPANS_MS = 2000;

const birth: WorkerBirth = workerData;
const { gateway, lane } = birth;
/** How this worker signs the leader lease; 0 means nobody there. */
const candidate = lane + 1;

const tell = (message: FromWorker): void => parentPort?.postMessage(message);
const relay = new LogRelay((lines) => tell({ kind: 'log', lines }));
const log = createLogger({ level: gateway.log.level, output: relay }).child({ worker: birth.id });
const cell = new GatewayCell(birth.gatewayCell, lane);
const sourceCells = new Map([...birth.sourceCells].map(([source, place]) => [source, new SourceCell(place, lane)]));
const keptAnswers = new BroadcastChannel('weir kept answers');
const tracer = await startTracer();
const dataPlane = new DataPlane({
  ...birth,
  tlsCounts: new TlsCell(birth.tlsCell, lane),
  cell,
  clock,
  log,
  onFinished: gateway.log.access ? accessLog({ format: gateway.log.accessFormat, logger: log, output: relay }) : null,
  onKept: (kept) => keptAnswers.postMessage(kept),
  gatehouse: new Gatehouse({ clock, log }),
  tracer,
});
keptAnswers.onmessage = ({ data }) => dataPlane.takeKept(data);

let { version } = birth;
/** The routes whose services this worker asks for while it leads. */
let { routes: askedRoutes } = birth.routing;
let asker: Asker | undefined;
let ledTerm = 0;
let isDraining = false;
let beatDueMs = clock.nowMs() + HEARTBEAT_MS;
const heartbeat = setInterval(beat, HEARTBEAT_MS);

parentPort?.on('message', (message: ToWorker) => void hear(message));
beat();
tell({ kind: 'booted' });

async function hear(message: ToWorker): Promise<void> {
  switch (message.kind) {
    case 'snapshot':
      dataPlane.apply(message.snapshot);
      version = message.snapshot.version;
      cell.reportSnapshot(version);
      return;
    case 'routes':
      dataPlane.replaceRoutes(message.routing);
      return;
    case 'certificates':
      dataPlane.replaceCertificates(message.tls);
      return;
    case 'listen':
      return listen();
    case 'lead':
      if (message.term === ledTerm) lead(message);
      return;
    case 'drain':
      return drain(message.tunnelsMs);
  }
}

/** The SDK is loaded only where something is traced. */
async function startTracer() {
  if (gateway.tracing === null) return null;
  const { OtlpTracer } = await import('./tracing/otlp-tracer.ts');
  const onSpans = cell.countSpans.bind(cell);
  return new OtlpTracer({ ...gateway.tracing, version: VERSION, worker: birth.id, clock, log, onSpans });
}

async function listen(): Promise<void> {
  // Told to go before it had booted: a connection that it took would be lost.
  if (isDraining) return;
  try {
    await dataPlane.listen();
    tell({ kind: 'listening' });
  } catch (error) {
    tell({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
  }
}

/** Renews or takes the lease, and says how the worker does. */
function beat(): void {
  const nowMs = clock.nowMs();
  cell.reportSnapshot(version);
  cell.reportLag(Math.max(0, nowMs - beatDueMs));
  beatDueMs = nowMs + HEARTBEAT_MS;
  const term = isDraining ? 0 : claimLease(cell.words, candidate, nowMs);
  if (term === ledTerm) return;
  stopAsking();
  ledTerm = term;
  if (term !== 0) tell({ kind: 'leads', term });
}

/** Asks from here; one who leads already in this term goes on with what it asks for. */
function lead({ term, resume, routes }: ToWorker & { kind: 'lead' }): void {
  askedRoutes = routes;
  asker ??= new Asker({
    sourceOf: createSourceMaker({
      gateway,
      routes: () => askedRoutes,
      clock,
      onQuery: (source, result, tookMs) => sourceCells.get(source)?.countQuery(result, tookMs),
    }),
    holdLastGoodMs: gateway.discovery.holdLastGoodMs,
    clock,
    onUpdate: (update) => tell({ kind: 'discovered', term, update }),
  });
  asker.ask(resume);
}

function stopAsking(): void {
  asker?.stop().catch((error: unknown) => log.warn({ err: error }, 'discovery did not stop cleanly'));
  asker = undefined;
}

async function drain(tunnelsMs: number): Promise<void> {
  if (isDraining) return;
  isDraining = true;
  stopAsking();
  releaseLease(cell.words, candidate);
  await dataPlane.drain(tunnelsMs);
  clearInterval(heartbeat);
  keptAnswers.close();
  // What is logged goes out before the last spans: the time of this worker may run out meanwhile.
  relay.flush();
  await tracer?.stop(LAST_SPANS_MS);
  relay.flush();
  tell({ kind: 'drained' });
}

// The operations drill: reloads, worker restarts, hand-overs and a log that nobody reads, under steady load.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ReloadResult } from '../../gateway/reloader.ts';
import { findFreePorts } from '../../test/support/free-ports.ts';
import { OperatedFolder, OperatedGateway } from '../support/operated-gateway.ts';
import { portOf, startService } from '../support/plain-service.ts';
import { switchMigration } from '../support/socket-migration.ts';
import { SteadyLoad } from '../support/steady-load.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    migration: { type: 'string', default: 'on' },
    help: { type: 'boolean', default: false },
  },
});

/** What to do with the kernel's switch for connections that wait at a socket that closes. */
const MIGRATIONS = ['on', 'off', 'as-found'] as const;
const RELOADS = values.short ? 20 : 50;
const ROLLS = values.short ? 1 : 5;
const RESTARTS = values.short ? 4 : 20;
const HAND_OVERS = values.short ? 2 : 5;
const UNREAD_MS = values.short ? 3000 : 30_000;
const WORKERS = 2;
/** What a process may take more than one that has done nothing but serve: in any step, and at the end of the drill. */
const MOST_PEAK_MIB = 256;
const MOST_GROWTH_MIB = 96;

class Scene {
  readonly folder = new OperatedFolder();
  readonly servicePort: number;
  readonly port: number;
  /** Listening sockets of so many workers were closed. */
  workersGone = 0;
  #gateway: OperatedGateway | undefined;
  #adminPort = 0;
  #processes = 0;

  constructor(servicePort: number, port: number) {
    this.servicePort = servicePort;
    this.port = port;
    this.folder.route('drill', this.route());
    this.folder.route('other', this.other(1));
  }

  get gateway(): OperatedGateway {
    if (this.#gateway === undefined) throw new Error('no gateway was started');
    return this.#gateway;
  }

  /** The route of the load. */
  route(responseSeconds = 30): object {
    const endpoints = [`127.0.0.1:${this.servicePort}`];
    return { service: 'drill', endpoints, match: [{ paths: ['/*'] }], timeout: { response: `${responseSeconds}s` } };
  }

  /** A route that has nothing to do with the load. */
  other(number: number): object {
    return { service: `other-${number}`, endpoints: ['127.0.0.1:9'], match: [{ paths: [`/other/${number}`] }] };
  }

  /** Starts a process on the port, beside the one before, which then ends. */
  async handOver(): Promise<void> {
    const before = this.#gateway;
    const [adminPort = 0] = await findFreePorts(1);
    this.#processes++;
    this.#gateway = await OperatedGateway.start(this.writeGateway(100, adminPort), adminPort);
    await before?.stop();
    if (before !== undefined) this.workersGone += WORKERS;
  }

  /** Writes the gateway.yaml of the newest process. */
  writeGateway(headerCount: number, adminPort = this.#adminPort): string {
    this.#adminPort = adminPort;
    return this.folder.gateway(`gateway-${this.#processes}.yaml`, {
      listen: [{ address: `127.0.0.1:${this.port}` }],
      admin: { address: `127.0.0.1:${adminPort}` },
      workers: WORKERS,
      routes: 'routes',
      limits: { headerCount },
      discovery: { snapshot: { path: join(this.folder.path, `snapshot-${this.#processes}.json`) } },
    });
  }
}

const STEPS: readonly (readonly [name: string, run: (scene: Scene) => Promise<void>])[] = [
  ['nothing, for comparison', () => delay(values.short ? 1500 : 5000)],
  [`${RELOADS} reloads: good, broken and conflicting files`, reloads],
  [`${ROLLS} changes of gateway.yaml, by new workers`, rolls],
  [`${RESTARTS} workers are restarted`, restarts],
  [`nobody reads the log for ${UNREAD_MS / 1000} s`, unreadLog],
  [`${HAND_OVERS} processes take over, one from the other`, handOvers],
  ['nothing, at the end', () => delay(values.short ? 1500 : 5000)],
];

if (values.help) console.log('usage: npm run chaos:operate -- [--short] [--migration on|off|as-found]');
else process.exitCode = await drill();

async function drill(): Promise<number> {
  const wanted = MIGRATIONS.find((each) => each === values.migration);
  if (wanted === undefined) throw new Error(`--migration is one of ${MIGRATIONS}`);
  const migration = switchMigration(wanted);
  const service = await startService();
  const [port = 0] = await findFreePorts(1);
  const scene = new Scene(portOf(service), port);
  try {
    console.log(migration.words);
    await scene.handOver();
    const load = new SteadyLoad(`http://127.0.0.1:${port}`, { clients: 20, restMs: 5 });
    try {
      return await runSteps(scene, load, migration.isOn);
    } finally {
      await load.stop();
    }
  } finally {
    await scene.gateway.stop();
    service.close().closeAllConnections();
    scene.folder.remove();
    migration.restore();
  }
}

async function runSteps(scene: Scene, load: SteadyLoad, migrates: boolean): Promise<number> {
  let [failed, resets] = [0, 0];
  const memory: number[] = [];
  console.log('| step | seconds | requests | failed | slowest ms | MiB |');
  console.log('|---|---:|---:|---:|---:|---:|');
  for (const [name, run] of STEPS) {
    const begun = performance.now();
    await run(scene);
    await delay(500);
    const { requests, failed: lost, slowestMs, errors } = load.take();
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    memory.push(scene.gateway.residentMiB());
    failed += lost;
    console.log(`| ${name} | ${seconds} | ${requests} | ${lost} | ${slowestMs} | ${memory.at(-1)} |`);
    for (const [what, times] of Object.entries(errors)) {
      console.log(`  ${times} × ${what}`);
      if (what.includes('ECONNRESET')) resets += times;
    }
  }
  console.log(`workers that ended: ${scene.workersGone}`);
  const [first = 0, last = 0] = [memory[0], memory.at(-1)];
  const isSmall = Math.max(...memory) - first <= MOST_PEAK_MIB && last - first <= MOST_GROWTH_MIB;
  if (!isSmall) console.log(`memory grew by more than ${MOST_PEAK_MIB} MiB, or by ${MOST_GROWTH_MIB} to the end`);
  // Without migration the kernel may reset a connection that waits at a socket as its worker closes it.
  const mayFail = migrates ? 0 : scene.workersGone;
  const isGood = failed - resets === 0 && resets <= mayFail && isSmall;
  const excuse = resets > 0 && isGood ? ', all reset by the kernel at sockets that closed' : '';
  console.log(`drill ${isGood ? 'passed' : 'FAILED'}: ${failed} failed requests${excuse}`);
  return isGood ? 0 : 1;
}

/** Every kind of change, one after another; each must end as it should. */
async function reloads(scene: Scene): Promise<void> {
  const { folder } = scene;
  const edits: readonly (readonly [result: ReloadResult, edit: (time: number) => void])[] = [
    ['applied', (time) => folder.route('other', scene.other(time))],
    ['applied', (time) => folder.route('drill', scene.route(20 + time))],
    ['quarantined', () => folder.route('other', 'service: [')],
    ['quarantined', () => folder.route('rival', scene.route())],
    ['quarantined', (time) => folder.route('drill', `${JSON.stringify(scene.route())}\nretrys: ${time}`)],
    ['quarantined', () => folder.route('rival', null)],
    ['quarantined', (time) => folder.route('other', scene.other(time))],
    ['applied', (time) => folder.route('drill', scene.route(20 + time))],
    ['applied', (time) => folder.route('more', scene.other(1000 + time))],
    ['applied', () => folder.route('more', null)],
  ];
  for (let time = 0; time < RELOADS; time++) {
    const [expected, edit] = edits[time % edits.length] ?? ['applied', () => undefined];
    edit(time);
    const { result } = await scene.gateway.reload();
    if (result !== expected) throw new Error(`reload ${time} ended as ${result}, not ${expected}`);
    await delay(100);
  }
}

async function rolls(scene: Scene): Promise<void> {
  for (let time = 0; time < ROLLS; time++) {
    scene.writeGateway(200 + time);
    const { gatewayKeys } = await scene.gateway.reload();
    if (String(gatewayKeys) !== 'limits') throw new Error(`the keys that changed: ${gatewayKeys}`);
    await scene.gateway.untilSettled();
    scene.workersGone += WORKERS;
  }
}

async function restarts(scene: Scene): Promise<void> {
  for (let time = 0; time < RESTARTS; time++) {
    await scene.gateway.restartWorker(1 + (time % WORKERS));
    scene.workersGone++;
  }
}

async function unreadLog(scene: Scene): Promise<void> {
  await scene.gateway.leaveLogUnread(UNREAD_MS);
  // A process that takes over has dropped nothing.
  const dropped = await scene.gateway.metric('weir_log_lines_dropped_total');
  console.log(`  ${dropped} lines of the log were dropped`);
}

async function handOvers(scene: Scene): Promise<void> {
  for (let time = 0; time < HAND_OVERS; time++) {
    await scene.handOver();
    await delay(500);
  }
}

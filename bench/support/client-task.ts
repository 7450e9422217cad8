// Load by a client of our own, in a process on the core of the load; what it is told and what it says.
import { fork } from 'node:child_process';
import { pinSelf } from './process.ts';

export interface ClientTask {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly core: number;
  /** Arrivals a second of the open-loop client; the WebSocket client has none. */
  readonly perSecond?: number;
  /** How long the open-loop client waits for answers after the last request was due; 0 by default. */
  readonly graceMs?: number;
}

/** Percentiles of one histogram: pairs of a percentile (0..100) and milliseconds. */
export type Curve = readonly (readonly [percentile: number, ms: number])[];

export interface ClientReport {
  readonly requests: number;
  readonly errors: number;
  readonly seconds: number;
  /** Latencies, for the open-loop client from when the request was due. */
  readonly curve: Curve;
  /** The histogram of them, in HdrHistogram's own compressed form. */
  readonly histogram: string;
  /** Latencies from when the request was sent, which leave out what it waited for a connection; open loop only. */
  readonly fromSendCurve?: Curve;
  /** Requests that were due but neither answered nor failed at the end; open loop only. */
  readonly unanswered?: number;
}

/** The percentiles that curves are made of. */
export const CURVE_PERCENTILES: readonly number[] = [
  0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 100,
];

export function valueAt(curve: Curve, percentile: number): number {
  return curve.find(([at]) => at === percentile)?.[1] ?? Number.NaN;
}

/** Runs the client script on the task; an error when it ends without a report. */
export async function runClient(script: string, task: ClientTask): Promise<ClientReport> {
  const child = fork(script, [JSON.stringify(task)], { execArgv: [], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}: ${said}`)));
    child.once('message', (report) => {
      if (isReport(report)) resolve(report);
    });
  });
}

/** In the client's process: the task it was started with; moves the process to its core. */
export function takeTask(): ClientTask {
  const task: unknown = JSON.parse(process.argv[2] ?? 'null');
  if (!isTask(task)) throw new Error('a client is started with a task');
  pinSelf(task.core);
  return task;
}

function isTask(value: unknown): value is ClientTask {
  return typeof value === 'object' && value !== null && 'url' in value && 'connections' in value && 'core' in value;
}

function isReport(value: unknown): value is ClientReport {
  return typeof value === 'object' && value !== null && 'requests' in value && 'curve' in value;
}

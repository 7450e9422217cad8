// Load of HTTP/2 by h2load, on the core of the load, and what it says of it.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadOptions, LoadResult } from './load.ts';
import { valueAtShare } from './percentiles.ts';
import { runTool } from './tool.ts';

export interface H2loadOptions extends Pick<LoadOptions, 'url' | 'connections' | 'seconds' | 'core' | 'folder'> {
  /** Requests at a time on each connection. */
  readonly streams: number;
}

/** It ends by itself; where it does not, it is ended after this time, and that is an error. */
const GRACE_MS = 20_000;

export async function loadByH2load(options: H2loadOptions): Promise<LoadResult> {
  const { url, connections, seconds, core, folder, streams } = options;
  const logFile = join(folder, 'h2load.log');
  // It appends.
  rmSync(logFile, { force: true });
  const size = ['-c', String(connections), '-m', String(streams), '-D', String(seconds)];
  const args = ['-c', String(core), 'h2load', ...size, `--log-file=${logFile}`, url];
  const { code, text } = await runTool('taskset', args, seconds * 1000 + GRACE_MS);
  if (code !== 0) throw new Error(`h2load ended with ${code}: ${text.slice(-200)}`);
  return readH2load(text, readFileSync(logFile, 'latin1'));
}

/**
 * Reads its summary, and its log for the latencies: a line a request of start, status and microseconds, between tabs. An
 * answer of 4xx or 5xx is an answer and an error; what was under way at the end is neither.
 */
export function readH2load(summary: string, log: string): LoadResult {
  const [, perSecond] = /^finished in \S+, ([\d.]+) req\/s/m.exec(summary) ?? [];
  const [, done, failed, errored] = /^requests: .* (\d+) done, .* (\d+) failed, (\d+) errored/m.exec(summary) ?? [];
  if (perSecond === undefined || done === undefined) throw new Error(`h2load says no result: ${summary.slice(-200)}`);
  const sortedUs = latenciesIn(log);
  const msAt = (share: number): number => valueAtShare(sortedUs, share) / 1000;
  return {
    requests: Number(done) - Number(errored),
    perSecond: Number(perSecond),
    p50Ms: msAt(0.5),
    p99Ms: msAt(0.99),
    p999Ms: msAt(0.999),
    errors: Number(failed),
  };
}

/** Microseconds of the requests that were answered, in ascending order. */
function latenciesIn(log: string): Float64Array {
  const answered = log.split('\n').flatMap((line) => {
    const [, status, microseconds] = line.split('\t').map(Number);
    return status !== undefined && status > 0 && microseconds !== undefined ? [microseconds] : [];
  });
  return Float64Array.from(answered).sort();
}

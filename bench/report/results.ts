// The stored results of the suite, one file a stage, each with what it was measured on.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join, resolve } from 'node:path';
import { VERSION } from '../../gateway/version.ts';
import type { ChaosResult } from '../comparison/chaos-result.ts';
import { PEERS } from '../peers/peers.ts';
import type { GrowthResult } from '../stages/growth.ts';
import type { OpenLoopResult } from '../stages/open-loop.ts';
import type { ScenarioResult } from '../stages/throughput.ts';
import { generatorName } from '../support/load.ts';

/** When, where and of what a stage was measured. */
export interface About {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly generator: string;
  readonly rounds: number;
  readonly seconds: number;
}

export interface Results {
  readonly throughput?: Stored<readonly ScenarioResult[]>;
  readonly openLoop?: Stored<OpenLoopResult>;
  readonly growth?: Stored<readonly GrowthResult[]>;
  readonly chaos?: Stored<ChaosResult>;
}

export interface Stored<Measured> {
  readonly about: About;
  readonly measured: Measured;
}

type Stage = keyof Results;

const BENCH = resolve(import.meta.dirname, '..');
const STAGES: Readonly<Record<Stage, string>> = {
  throughput: 'throughput.json',
  openLoop: 'open-loop.json',
  growth: 'growth.json',
  chaos: 'chaos.json',
};

/** Where results and report go: those of a run that was only a try stay out of the repository. */
export function outFolder(isTry: boolean): string {
  return isTry ? resolve(BENCH, '../data/bench') : BENCH;
}

/** Puts a stage's results beside the others', in place of those from before. */
export function storeResult(stage: Stage, stored: Stored<unknown>, out: string): void {
  const folder = join(out, 'results');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, STAGES[stage]);
  writeFileSync(`${path}.new`, `${JSON.stringify(stored, null, 1)}\n`);
  renameSync(`${path}.new`, path);
}

/** All results that are stored; a stage that has not run is absent. */
export function readResults(out: string): Results {
  const read = (stage: Stage): object => {
    try {
      return { [stage]: JSON.parse(readFileSync(join(out, 'results', STAGES[stage]), 'utf8')) };
    } catch {
      return {};
    }
  };
  return { ...read('throughput'), ...read('openLoop'), ...read('growth'), ...read('chaos') };
}

/** What this run is measured on. */
export function about({ rounds, seconds }: { rounds: number; seconds: number }): About {
  const commit = git('rev-parse', '--short', 'HEAD');
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  const installed = PEERS.filter((peer) => peer.missing() === null).map((peer) => [peer.name, peer.version()]);
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit: `${commit === '' ? 'unknown' : commit}${isChanged ? ' with changes' : ''}`,
    machine: `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Linux ${release()}`,
    versions: { ...Object.fromEntries(installed), weir: VERSION, Node: process.version },
    generator: generatorName(),
    rounds,
    seconds,
  };
}

function git(...args: readonly string[]): string {
  return (spawnSync('git', args, { cwd: BENCH, encoding: 'utf8' }).stdout ?? '').trim();
}

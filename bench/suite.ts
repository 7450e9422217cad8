// The benchmark suite: throughput, open-loop latency and growth, of Weir and its peers in the same run; `npm run bench`.
import { parseArgs } from 'node:util';
import { availablePeers } from './peers/peers.ts';
import { about, outFolder, readResults, storeResult } from './report/results.ts';
import { throughputTables } from './report/tables.ts';
import { writeReport } from './report/write-report.ts';
import { type GrowthResult, growthPieces, measureGrowth } from './stages/growth.ts';
import { measureOpenLoop, openLoopPieces } from './stages/open-loop.ts';
import { availableScenarios, SCENARIOS } from './stages/scenario.ts';
import { measureThroughput, type ScenarioResult, throughputPieces } from './stages/throughput.ts';
import { GATEWAY_CORE, LOAD_CORE } from './support/cores.ts';
import { generatorName } from './support/load.ts';
import { pinSelf } from './support/process.ts';
import { RunSession } from './support/run-session.ts';

const STAGES = ['throughput', 'open-loop', 'growth'];

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    scenario: { type: 'string', default: '' },
    peers: { type: 'string', default: '' },
    only: { type: 'string', default: STAGES.join(',') },
    short: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`usage: npm run bench -- [options]

  --only STAGES    of ${STAGES.join(', ')}; all by default
  --scenario TEXT  only the scenarios whose names contain it (--list shows them)
  --peers NAMES    only these gateways, separated by commas
  --rounds 5       interleaved rounds of each scenario; one more, not counted, warms up
  --seconds 4      length of a round
  --short          one round of one second: to see that all of it runs, not to learn from

Results: bench/results/*.json, bench/RESULTS.md, bench/report.html; those of a run with --short, --scenario or --peers
go to data/bench instead. Ctrl-C keeps what is done.
`);
} else if (values.list) {
  for (const { name } of SCENARIOS) process.stdout.write(`${name}\n`);
} else {
  await main();
}

async function main(): Promise<void> {
  const [rounds, seconds] = values.short ? [1, 1] : [Number(values.rounds), Number(values.seconds)];
  const stages = values.only.split(',');
  const out = outFolder(values.short || values.scenario !== '' || values.peers !== '');
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const peers = availablePeers(values.peers, say);
  const scenarios = availableScenarios(values.scenario, say);
  const facts = about({ rounds, seconds });
  say(`${facts.machine}, Node ${process.version}, load by ${generatorName()}`);
  if (GATEWAY_CORE === LOAD_CORE) say('one core only: gateway and load share it, read ratios only');
  // What makes load in this process belongs on the core of the load.
  pinSelf(LOAD_CORE);
  const throughput = { scenarios, peers, rounds, seconds };
  const [openLoop, growth] = [
    { peers, rounds, seconds: values.short ? 2 : seconds * 2 },
    { rounds: Math.min(3, rounds), seconds: Math.min(2, seconds) },
  ];
  const session = new RunSession(
    (stages.includes('throughput') ? throughputPieces(throughput) : 0) +
      (stages.includes('open-loop') ? openLoopPieces(openLoop) : 0) +
      (stages.includes('growth') ? growthPieces(growth) : 0),
  );
  try {
    if (stages.includes('throughput')) {
      const done: ScenarioResult[] = [];
      for await (const result of measureThroughput(throughput, session)) {
        session.say(throughputTables([result]));
        done.push(result);
        storeResult('throughput', { about: facts, measured: done }, out);
      }
    }
    if (stages.includes('open-loop') && !session.isStopped) {
      const measured = await measureOpenLoop(openLoop, session);
      if (measured !== null) storeResult('openLoop', { about: { ...facts, seconds: openLoop.seconds }, measured }, out);
    }
    if (stages.includes('growth') && !session.isStopped) {
      const done: GrowthResult[] = [];
      for await (const result of measureGrowth(growth, session)) {
        done.push(result);
        storeResult('growth', { about: { ...facts, ...growth }, measured: done }, out);
      }
    }
  } finally {
    session.close();
    for (const path of writeReport(readResults(out), out)) say(`written: ${path}`);
  }
}

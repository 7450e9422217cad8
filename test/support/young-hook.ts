// Loaded into a gateway under test by --import: each worker has many objects of one kind survive at once, and writes to a
// file how many of the next thousand are made in new space.
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { isMainThread, threadName } from 'node:worker_threads';

const BURSTS = 4;
const ROUNDS = 10;
const OBJECTS = 100_000;

if (isMainThread) setFlagsFromString('--allow-natives-syntax');
else writeFileSync(`${process.env.WEIR_YOUNG_FILE} ${threadName}`, String(youngOfThousand()));

function youngOfThousand(): number {
  const make = new Function('at', 'return { at, rest: [at] };');
  const isYoung = new Function('made', 'return %InYoungGeneration(made);');
  for (let burst = 0; burst < BURSTS; burst++) {
    const kept: unknown[] = [];
    for (let at = 0; at < ROUNDS * OBJECTS; at++) kept.push(make(at));
  }
  return Array.from({ length: 1000 }, (_, at) => isYoung(make(at))).filter(Boolean).length;
}

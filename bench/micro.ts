// Parts of the gateway alone: the codec, the balancing policies and tracing; medians of some rounds.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { BALANCING_ROWS } from './micro/balancing.ts';
import { CODEC_ROWS } from './micro/codec.ts';
import type { Row } from './micro/row.ts';
import { TRACING_ROWS } from './micro/tracing.ts';

const ROUNDS = 7;
const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  codec: CODEC_ROWS,
  balancing: BALANCING_ROWS,
  tracing: TRACING_ROWS,
};
const USAGE = `usage: node bench/micro.ts [${Object.keys(GROUPS).join('|')}]

Prints what the HTTP/1.1 codec, the balancing policies and tracing cost by themselves.
`;

const { values, positionals } = parseArgs({
  options: { help: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [wanted] = positionals;
const rows = wanted === undefined ? Object.values(GROUPS).flat() : GROUPS[wanted];
if (values.help) process.stdout.write(USAGE);
else if (rows === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else measure(rows);

function measure(rows: readonly Row[]): void {
  process.stdout.write(`${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}, medians of ${ROUNDS} rounds\n`);
  const figures = rows.map((): number[] => []);
  // The rounds interleave the rows, so that a slow moment of the machine does not hit one row alone.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [at, row] of rows.entries()) {
      const figure = row.measure();
      if (round > 0) figures[at]?.push(figure);
    }
  }
  for (const [at, { what, unit }] of rows.entries()) {
    const figure = median(figures[at] ?? []).toFixed(0);
    process.stdout.write(`${what.padEnd(58)} ${figure.padStart(8)} ${unit}\n`);
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

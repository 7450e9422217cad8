// The differential fuzz: what the HTTP/1.1 codec accepts of spoilt messages, Node's own parser must accept alike.
import { parseArgs } from 'node:util';
import { fuzz } from '../test/support/http-differential.ts';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`usage: node bench/fuzz.ts [--inputs 100000] [--seed N]

Compares requests and responses in turn, counts what came of them, and exits with 1 on a difference.
`);
} else {
  const inputs = Number(values.inputs);
  const seed = values.seed === '' ? Date.now() % 2 ** 31 : Number(values.seed);
  if (!Number.isSafeInteger(inputs) || !Number.isSafeInteger(seed)) {
    process.stderr.write('--inputs and --seed are whole numbers\n');
    process.exitCode = 2;
  } else {
    await main(inputs, seed);
  }
}

async function main(inputs: number, seed: number): Promise<void> {
  const startMs = performance.now();
  const { counts, differences } = await fuzz({ inputs, seed });
  const seconds = (performance.now() - startMs) / 1000;
  process.stdout.write(`seed ${seed}, Node ${process.version} (llhttp ${process.versions.llhttp})\n`);
  for (const [outcome, count] of [...counts].sort(([, one], [, other]) => other - one)) {
    process.stdout.write(`${String(count).padStart(8)}  ${outcome}\n`);
  }
  for (const { input, difference } of differences) process.stdout.write(`\n${difference}\n  ${input}\n`);
  const compared = [...counts.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(`${compared} inputs in ${seconds.toFixed(1)} s, ${differences.length} differences\n`);
  if (differences.length > 0) process.exitCode = 1;
}

// Writes RESULTS.md and report.html anew from the stored results; `npm run bench:report`.
import { parseArgs } from 'node:util';
import { outFolder, readResults } from './report/results.ts';
import { writeReport } from './report/write-report.ts';

const { values } = parseArgs({
  options: { try: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});

if (values.help) {
  process.stdout.write(
    'usage: npm run bench:report -- [--try]\n\n--try reads and writes data/bench, where short runs go.\n',
  );
} else {
  const out = outFolder(values.try);
  for (const path of writeReport(readResults(out), out)) process.stdout.write(`written: ${path}\n`);
}

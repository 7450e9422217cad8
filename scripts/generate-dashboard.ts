// Writes the Grafana dashboard into config/, from where it is imported.
import { writeFile } from 'node:fs/promises';
import { grafanaDashboard } from './dashboard/dashboard.ts';

const file = new URL('../config/grafana-dashboard.json', import.meta.url);
await writeFile(file, `${JSON.stringify(grafanaDashboard(), null, 2)}\n`);

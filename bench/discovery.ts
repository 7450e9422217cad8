// Discovery at scale: the first snapshot, connections, changes and memory, and how soon a change steers requests.
import { hasConsul } from '../test/support/real-consul.ts';
import { measureMemory } from './support/discovery-memory.ts';
import { measurePropagation } from './support/discovery-propagation.ts';
import { measureScale } from './support/discovery-scale.ts';

const parts = new Set(process.argv.slice(2));
const isWanted = (part: string): boolean => parts.size === 0 || parts.has(part);

console.log(`Node ${process.version}; parts: scale, memory, propagation`);
if (isWanted('scale')) await measureScale();
if (isWanted('memory')) await measureMemory();
if (isWanted('propagation')) {
  if (hasConsul()) await measurePropagation();
  else console.log('\npropagation: skipped, it needs the real Consul');
}

// The command that a test wraps: `node register-child.ts PORT LOOKUP-URL [closed]`. It tells on standard output what it
// does and how many instances the registry has at that moment, and on its way out exits with the code 7.
import { createServer, type Server } from 'node:http';
import process from 'node:process';

const [port = '0', lookup = '', state = 'open'] = process.argv.slice(2);

let isWell = true;
let server: Server | undefined;

function say(event: string, detail: unknown): void {
  process.stdout.write(`${event} ${detail}\n`);
}

/** How many instances the registry has, be it Consul's list or the table registry's document. */
async function registered(): Promise<number | string> {
  try {
    const document: unknown = await (await fetch(lookup)).json();
    if (Array.isArray(document)) return document.length;
    return typeof document === 'object' && document !== null && 'count' in document ? Number(document.count) : 'odd';
  } catch {
    return 'unknown';
  }
}

async function open(): Promise<void> {
  say('opens', await registered());
  server = createServer((request, response) => {
    if (request.url === '/sick') isWell = false;
    if (request.url === '/well') isWell = true;
    if (request.url === '/crash') process.exit(3);
    response.writeHead(request.url === '/health' && !isWell ? 503 : 200).end(String(process.pid));
  }).listen(Number(port), '127.0.0.1');
}

function close(): void {
  say('closes', '');
  server?.close();
  server?.closeAllConnections();
  server = undefined;
}

for (const name of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) {
  process.on(name, async () => {
    say(name, await registered());
    process.exit(7);
  });
}
for (const name of ['SIGHUP', 'SIGUSR1'] as const) process.on(name, async () => say(name, await registered()));
process.on('SIGUSR2', () => void (server === undefined ? open() : close()));

// Nothing of a test stays: without its wrapper it ends by itself.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(0), 50);

say('pid', process.pid);
if (state === 'open') await open();

// `weir demo`: an embedded registry, three sample instances with weights, a fallback and the gateway, nothing to install.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gatewaySchema } from '../config/gateway-schema.ts';
import { type RouteConfig, routeSchema } from '../config/route-schema.ts';
import { startGateway } from '../supervisor.ts';
import { runUntilSignal } from './start.ts';

const USAGE = `usage: weir demo [--port N] [--admin-port N] [--registry-port N]

Runs a gateway on 127.0.0.1 with an embedded registry and three sample instances of "hello-service", weights 4, 2 and 1.

  --port N            where the gateway answers (8080)
  --admin-port N      where its admin address answers (9901)
  --registry-port N   where the registry answers (8510)
  --help              prints this
`;

const WEIGHTS = [4, 2, 1];

interface DemoPorts {
  readonly gateway: number;
  readonly admin: number;
  readonly registry: number;
}

interface SampleInstance {
  readonly name: string;
  readonly weight: number;
  readonly process: ChildProcess;
}

/** Runs `weir demo`; resolves with the exit code after Ctrl-C. No process is left behind. */
export async function demo(args: string[]): Promise<number> {
  const ports = parseDemoArgs(args);
  if (typeof ports === 'string') {
    process.stderr.write(ports);
    return ports === USAGE ? 0 : 2;
  }
  const folder = await mkdtemp(join(tmpdir(), 'weir-demo-'));
  const instances: SampleInstance[] = [];
  try {
    const gateway = await startGateway({ gateway: gatewayConfig(ports, folder), routes: [routeConfig()] });
    for (const weight of WEIGHTS) instances.push(await startInstance(`hello-${instances.length + 1}`, weight, ports));
    gateway.ready.then(
      () => process.stderr.write(welcome(ports, instances)),
      () => undefined,
    );
    return await runUntilSignal(gateway);
  } finally {
    for (const instance of instances) instance.process.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

/** A text instead when there is nothing to run. */
function parseDemoArgs(args: string[]): DemoPorts | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: 'string', default: '8080' },
        'admin-port': { type: 'string', default: '9901' },
        'registry-port': { type: 'string', default: '8510' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return USAGE;
    const ports = [values.port, values['admin-port'], values['registry-port']].map(Number);
    const [gateway = 0, admin = 0, registry = 0] = ports;
    if (!ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536)) {
      return `weir demo: a port is a number from 1 to 65535\n\n${USAGE}`;
    }
    return { gateway, admin, registry };
  } catch (error) {
    if (error instanceof TypeError) return `weir demo: ${error.message}\n\n${USAGE}`;
    throw error;
  }
}

function gatewayConfig(ports: DemoPorts, folder: string) {
  const registry = `127.0.0.1:${ports.registry}`;
  return gatewaySchema.parse({
    listen: [{ address: `127.0.0.1:${ports.gateway}` }],
    admin: { address: `127.0.0.1:${ports.admin}` },
    discovery: {
      source: 'registry',
      registry: { url: `http://${registry}`, interval: '1s' },
      embeddedRegistry: { address: registry, store: 'sqlite::memory:' },
      snapshot: { path: join(folder, 'snapshot.json') },
    },
    shutdown: { drain: '5s' },
    log: { access: false },
  });
}

function routeConfig(): RouteConfig {
  const route = routeSchema.parse({
    service: 'hello-service',
    match: [{ paths: ['/*'] }],
    fallback: {
      chain: [
        {
          respond: {
            status: 503,
            contentType: 'application/json',
            body: '{"error":"all sample instances are gone"}\n',
          },
        },
      ],
    },
  });
  return { name: 'hello-service', file: '(demo)', ...route, source: 'registry' };
}

function startInstance(name: string, weight: number, ports: DemoPorts): Promise<SampleInstance> {
  const script = new URL(`./demo-instance${extname(import.meta.filename)}`, import.meta.url);
  const child = fork(script, [name, String(weight), `http://127.0.0.1:${ports.registry}`]);
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve({ name, weight, process: child }));
    child.once('exit', (code) => reject(new Error(`the sample instance ${name} ended with code ${code}`)));
  });
}

function welcome(ports: DemoPorts, instances: readonly SampleInstance[]): string {
  const url = `http://127.0.0.1:${ports.gateway}`;
  const rows = instances.map(({ name, weight, process: { pid } }) => `  ${name}  weight ${weight}  pid ${pid}`);
  const pids = instances.map(({ process: { pid } }) => pid);
  return `
Weir is running with three instances that it found in its registry:
${rows.join('\n')}

Try, in another terminal:
  curl -s ${url}/                                   who answers?
  for i in 1 2 3 4 5 6 7; do curl -s ${url}/; done   four, two and one of seven
  curl -s http://127.0.0.1:${ports.admin}/debug/upstreams     what the gateway knows
  kill ${pids[0]}                                          one leaves politely: it deregisters
  kill -9 ${pids[1]}                                       one dies: traffic shows it, see "why" in /debug/upstreams
  kill -9 ${pids[2]}                                       the last one: the fallback answers, see X-Degraded (curl -i)

Ctrl-C ends everything.
`;
}

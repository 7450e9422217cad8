// HAProxy as a subject: static servers with active checks, retries elsewhere; taken out over its runtime socket.
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DrillInstance } from '../support/drill-service.ts';
import { needs, startPinned } from '../support/process.ts';
import { ATTEMPTS, CONNECT_MS, RESPONSE_MS, type SubjectKind } from './subject.ts';
import { waitUntil } from './wait-until.ts';

const CHECK_MS = 500;

export const haproxySubject: SubjectKind = {
  name: 'haproxy',
  missing: () => needs('haproxy'),
  async start({ folder, instancePorts, port }) {
    const instances = instancePorts.map((each, at) => new DrillInstance(`i${at}`, each));
    const [config, socket] = [join(folder, 'haproxy.cfg'), join(folder, 'runtime')];
    writeFileSync(config, configOf({ port, ports: instancePorts, socket }));
    await Promise.all(instances.map((instance) => instance.start()));
    const stopInstances = () => Promise.all(instances.map((instance) => instance.end('SIGKILL')));
    const args = ['-f', config, '-db'];
    const running = await startPinned({ core: 'any', command: 'haproxy', args, port }).catch(async (error) => {
      await stopInstances();
      throw error;
    });
    const serverOf = (instance: DrillInstance): string => `back/s${instances.indexOf(instance)}`;
    return {
      port,
      instances,
      takeOut: async (instance) => void (await ask(socket, `set server ${serverOf(instance)} state drain`)),
      putBack: async (instance) => void (await ask(socket, `set server ${serverOf(instance)} state ready`)),
      untilWhole: () =>
        waitUntil('all servers to be up', async () => upIn(await ask(socket, 'show stat')) === instances.length),
      extraAttempts: async () => extraIn(await ask(socket, 'show stat')),
      async stop() {
        await running.stop();
        await stopInstances();
      },
    };
  },
};

function ask(path: string, command: string): Promise<string> {
  const socket = connect(path);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write(`${command}\n`);
  return new Promise((resolve, reject) => {
    socket.once('end', () => resolve(answer)).once('error', reject);
  });
}

/** Retries and redispatches of the backend. */
function extraIn(statistics: string): number {
  const backend = rowsOf(statistics).find(({ svname }) => svname === 'BACKEND');
  return Number(backend?.wretr ?? 0) + Number(backend?.wredis ?? 0);
}

function upIn(statistics: string): number {
  return rowsOf(statistics).filter(({ svname = '', status }) => svname !== 'BACKEND' && status === 'UP').length;
}

/** The rows of the backend in the comma-separated statistics. */
function rowsOf(statistics: string): readonly Readonly<Record<string, string>>[] {
  const [head = '', ...lines] = statistics.replace(/^# /, '').split('\n');
  const columns = head.split(',');
  const own = lines.map((line) => line.split(',')).filter(([name]) => name === 'back');
  return own.map((cells) => Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? ''])));
}

function configOf({ port, ports, socket }: { port: number; ports: readonly number[]; socket: string }): string {
  const check = `check inter ${CHECK_MS}ms fall 2 rise 2`;
  return `global
  nbthread 2
  stats socket ${socket} mode 600 level admin
defaults
  mode http
  timeout connect ${CONNECT_MS}ms
  timeout client 75s
  timeout server ${RESPONSE_MS}ms
  timeout check ${CHECK_MS}ms
  http-reuse always
  retries ${ATTEMPTS - 1}
  option redispatch 1
  retry-on conn-failure empty-response response-timeout 502 503 504
frontend front
  bind 127.0.0.1:${port} backlog 4096
  default_backend back
backend back
  balance roundrobin
  option httpchk GET /check
${ports.map((each, at) => `  server s${at} 127.0.0.1:${each} ${check}`).join('\n')}
`;
}

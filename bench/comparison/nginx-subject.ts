// nginx as a subject: a static upstream, the next one on failure, passive health; taken out by `down` and a reload.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DrillInstance } from '../support/drill-service.ts';
import { needs, startPinned } from '../support/process.ts';
import { ATTEMPTS, CONNECT_MS, FAILURES, OUT_SECONDS, RESPONSE_MS, type SubjectKind } from './subject.ts';

/** How long new workers take to be there after the signal. */
const RELOAD_MS = 300;

export const nginxSubject: SubjectKind = {
  name: 'nginx',
  missing: () => needs('nginx'),
  async start({ folder, instancePorts, port }) {
    const instances = instancePorts.map((each, at) => new DrillInstance(`i${at}`, each));
    const down = new Set<number>();
    const config = join(folder, 'nginx.conf');
    const write = (): void => writeFileSync(config, configOf({ folder, port, ports: instancePorts, down }));
    write();
    await Promise.all(instances.map((instance) => instance.start()));
    const stopInstances = () => Promise.all(instances.map((instance) => instance.end('SIGKILL')));
    const args = ['-c', config, '-e', join(folder, 'error.log')];
    const running = await startPinned({ core: 'any', command: 'nginx', args, port }).catch(async (error) => {
      await stopInstances();
      throw error;
    });
    const reload = async (): Promise<void> => {
      write();
      process.kill(running.pid, 'SIGHUP');
      await delay(RELOAD_MS);
    };
    return {
      port,
      instances,
      async takeOut(instance) {
        down.add(instance.port);
        await reload();
      },
      async putBack(instance) {
        down.delete(instance.port);
        await reload();
      },
      // It tells no one what is out; after that time it tries anew.
      untilWhole: () => delay(2 * OUT_SECONDS * 1000),
      extraAttempts: async () => extraIn(join(folder, 'attempts.log')),
      async stop() {
        await running.stop();
        await stopInstances();
      },
    };
  },
};

/** Each line has the addresses that a request was sent to, separated by commas. */
function extraIn(path: string): number {
  return existsSync(path) ? readFileSync(path, 'latin1').split(',').length - 1 : 0;
}

function configOf(of: { folder: string; port: number; ports: readonly number[]; down: ReadonlySet<number> }): string {
  const { folder, port, ports, down } = of;
  const servers = ports.map((each) => {
    const state = down.has(each) ? ' down' : '';
    return `server 127.0.0.1:${each} max_fails=${FAILURES} fail_timeout=${OUT_SECONDS}s${state};`;
  });
  return `daemon off; worker_processes 2; pid ${folder}/nginx.pid; error_log ${folder}/error.log crit;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 4096; }
http {
  log_format attempts '$upstream_addr'; access_log ${folder}/attempts.log attempts;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream drill { zone drill 64k; ${servers.join(' ')} keepalive 32; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://drill; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_connect_timeout ${CONNECT_MS}ms; proxy_read_timeout ${RESPONSE_MS}ms;
      proxy_next_upstream error timeout http_502 http_503 http_504; proxy_next_upstream_tries ${ATTEMPTS};
    }
  }
}
`;
}

// A port that is listened on but takes no connection any more: for connects that never come to an end.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

export interface DeafPort {
  readonly port: number;
  stop(): Promise<void>;
}

/** The thread never accepts: what the system accepts for it is soon full, and it answers nobody else. */
const SCRIPT = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

const FILLERS = 8;

export async function openDeafPort(): Promise<DeafPort> {
  const worker = new Worker(SCRIPT, { eval: true });
  const [port] = await once(worker, 'message');
  const fillers: Socket[] = [];
  for (let at = 0; at < FILLERS; at++) {
    const filler = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    fillers.push(filler);
    const isTaken = await Promise.race([once(filler, 'connect').then(() => true), hesitation()]);
    if (!isTaken) break;
  }
  return {
    port: Number(port),
    async stop() {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}

/** A connect on this machine that has not succeeded by then is not going to. */
async function hesitation(): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), 200));
}

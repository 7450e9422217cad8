// Loaded into a gateway under test by --import: SIGUSR2 stalls the worker thread that a file names, for as long as it says.
import { readFileSync } from 'node:fs';
import { BroadcastChannel, isMainThread, threadName } from 'node:worker_threads';

const channel = new BroadcastChannel('stall');

if (isMainThread) {
  process.on('SIGUSR2', () => {
    const [name, ms] = readFileSync(process.env.WEIR_STALL_FILE ?? '', 'utf8').split('\n');
    channel.postMessage({ name, ms: Number(ms) });
  });
} else {
  channel.onmessage = (event) => {
    const { name, ms } = event.data;
    // Nothing in the thread runs while it waits: neither its timers nor its sockets.
    if (name === threadName) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  };
}
channel.unref();

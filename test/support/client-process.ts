// A process that asks the service `s` once through `weir/client` and closes: `node client-process.ts REGISTRY-URL
// READY-TIMEOUT-MS`. It prints the answer, or the code of the error, and ends by itself when nothing is left.
import { createDiscoveryDispatcher } from '../../gateway/client.ts';

const [url = '', readyTimeoutMs = '0'] = process.argv.slice(2);
const dispatcher = createDiscoveryDispatcher({
  registry: { url },
  services: ['s'],
  confirmEmpty: '50ms',
  readyTimeout: `${Number(readyTimeoutMs)}ms`,
});
await dispatcher.ready().catch(() => undefined);
const answer = fetch('http://s/', { dispatcher }).then((response) => response.text());
console.log(await answer.catch((error: Error) => codeOf(error.cause)));
await dispatcher.close();

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : cause;
}

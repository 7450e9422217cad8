// What is left in memory of the content of a request that has ended.
import { setImmediate as immediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { collect } from '../../support/collect.ts';
import { startHttpServer } from '../../support/local-server.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { send } from '../../support/send.ts';
import { waitFor } from '../../support/wait-for.ts';

const MIB = 1024 ** 2;
const CONTENT = 'x'.repeat(24 * MIB);

endAfterEach();

it('the content of the last request, kept for a second attempt, is let go when it has ended', async () => {
  await using owned = new AsyncDisposableStack();
  const upstream = await startHttpServer((request, response) => request.resume().on('end', () => response.end()));
  owned.adopt(upstream, (server) => server.stop());
  const route = { body: '32MiB', retry: { bodyBuffer: '32MiB' } };
  const gateway = await gatewayFor({ endpoints: [upstream.port], route });
  const before = await heldMiB();
  const answer = await send(`http://127.0.0.1:${gateway.port}/`, { method: 'PUT', body: CONTENT });
  expect(answer.status).toBe(200);
  await waitFor(async () => (await heldMiB()) - before < 8, { limitMs: 5000, what: 'the content to be let go' });
});

async function heldMiB(): Promise<number> {
  collect();
  await immediate();
  return process.memoryUsage().arrayBuffers / MIB;
}

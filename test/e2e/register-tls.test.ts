// `weir register` and an agent of Consul behind TLS with an authority of its own.

import { once } from 'node:events';
import { createServer } from 'node:https';
import { expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { startRegistered } from '../support/registered-process.ts';

it.skipIf(!hasOpenssl())('registers by consul+https, and shows its token to nobody else', async () => {
  await using owned = new AsyncDisposableStack();
  const authority = owned.adopt(createAuthority(), (made) => made.remove());
  const { cert, key } = authority.sign('agent');
  const seen: [string, unknown][] = [];
  const agent = createServer({ cert, key }, (request, response) => {
    seen.push([`${request.method} ${request.url}`, request.headers['x-consul-token']]);
    request.resume();
    response.end('[]');
  }).listen(0, '127.0.0.1');
  owned.defer(() => void agent.close());
  await once(agent, 'listening');
  const address = agent.address();
  const url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

  const lookup = 'http://127.0.0.1:1';
  const options = ['--registry', `consul+${url}`, '--id', 'web-1', '--drain', '0s'];
  const stranger = owned.adopt(await startRegistered({ lookup, options }), (web) => web.close());
  await stranger.told('trying again');
  expect(seen).toEqual([]);

  Object.assign(process.env, { NODE_EXTRA_CA_CERTS: authority.caFile, CONSUL_HTTP_TOKEN: 'hush-hush' });
  const friend = owned.adopt(await startRegistered({ lookup, options }), (web) => web.close());
  delete process.env.NODE_EXTRA_CA_CERTS;
  delete process.env.CONSUL_HTTP_TOKEN;
  await friend.told('registered web-1');
  friend.command.signal('SIGTERM');
  await friend.ended();
  expect(seen).toEqual([
    ['PUT /v1/agent/service/register', 'hush-hush'],
    ['PUT /v1/agent/service/deregister/web-1', 'hush-hush'],
  ]);
  expect(friend.command.stderr).not.toContain('hush-hush');
});

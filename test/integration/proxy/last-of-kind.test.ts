// What a thread holds on to of the requests that have ended.
import { beforeEach, describe, expect, it } from 'vitest';
import { forgetLast, lastOf } from '../../../gateway/core/last-of-kind.ts';
import { Lease } from '../../../gateway/pool/lease.ts';
import { ClientExchange } from '../../../gateway/proxy/front/client-exchange.ts';
import { Http2Exchange } from '../../../gateway/proxy/http2/http2-exchange.ts';
import { Http2Call } from '../../../gateway/proxy/upstream/http2-upstream-call.ts';
import { Http1Call } from '../../../gateway/proxy/upstream/upstream-call.ts';
import { endHttp2EndpointsAfterEach, http2Endpoint } from '../../support/http2-endpoint.ts';
import { ask, endHttp2AfterEach, sessionTo } from '../../support/http2-scene.ts';
import { namedUpstream } from '../../support/named-upstream.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { send } from '../../support/send.ts';

endAfterEach();
endHttp2AfterEach();
endHttp2EndpointsAfterEach();
beforeEach(forgetLast);

describe('of requests that have ended a thread holds on to', () => {
  it.each([
    ['the last without content and the last with it', { listener: {} }, ClientExchange],
    ['the same of HTTP/2', { listener: { http2: true } }, Http2Exchange],
  ])('%s', async (_what, { listener }, Kind) => {
    const { port } = await gatewayFor({ endpoints: [(await namedUpstream('a')).port], listener });
    const isHttp2 = Kind === Http2Exchange;
    const request = isHttp2 ? askByHttp2 : askByHttp1;
    for (const path of ['/1', '/2']) await request(port, path, 'GET');
    for (const path of ['/3', '/4']) await request(port, path, 'PUT');
    const [exchange, upload] = isHttp2
      ? [lastOf.http2Exchange, lastOf.http2Upload]
      : [lastOf.http1Exchange, lastOf.http1Upload];
    for (const held of [exchange, upload]) expect(held).toBeInstanceOf(Kind);
    expect([exchange, upload]).toMatchObject([{ target: '/2' }, { target: '/4' }]);
  });

  it('the last call to an endpoint of each protocol, the last lease and the last turn', async () => {
    const http2 = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const old = await gatewayFor({ endpoints: [(await namedUpstream('a')).port] });
    const fresh = await gatewayFor({ endpoints: [http2.port], route: { protocol: 'h2c' } });
    await askByHttp1(old.port, '/1', 'GET');
    await askByHttp1(fresh.port, '/2', 'GET');
    expect(lastOf.http1Call).toBeInstanceOf(Http1Call);
    expect(lastOf.http2Call).toBeInstanceOf(Http2Call);
    expect(lastOf.lease).toBeInstanceOf(Lease);
    expect(lastOf.turn).toBeInstanceOf(setImmediate(() => undefined).constructor);
  });
});

async function askByHttp1(port: number, path: string, method: string): Promise<void> {
  await send(`http://127.0.0.1:${port}${path}`, { method, ...(method === 'PUT' && { body: 'new' }) });
}

async function askByHttp2(port: number, path: string, method: string): Promise<void> {
  await ask(sessionTo(port), { ':path': path, ':method': method }, method === 'PUT' ? 'new' : undefined);
}

// Connections to HTTP/2 endpoints: how many there are, how long they are kept, and when they end.
import { describe, expect, it } from 'vitest';
import { Sweep } from '../../../gateway/proxy/sweep.ts';
import { Http2Upstream } from '../../../gateway/proxy/upstream/http2-upstream.ts';
import type { UpstreamTarget } from '../../../gateway/proxy/upstream/upstream.ts';
import { endHttp2EndpointsAfterEach, http2Endpoint } from '../../support/http2-endpoint.ts';
import { headers, SETTING, settings } from '../../support/http2-frames.ts';
import { endRawHttp2EndpointsAfterEach, onRequest, rawHttp2Endpoint } from '../../support/raw-http2-endpoint.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { type Answer, send } from '../../support/send.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2EndpointsAfterEach();
endRawHttp2EndpointsAfterEach();

const H2C = { protocol: 'h2c' };
const OK = [[':status', '204']] as const;

function sendMany(port: number, count: number, options: Parameters<typeof send>[1] = {}): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => send(`http://127.0.0.1:${port}/`, options)));
}

describe('connections to an HTTP/2 endpoint', () => {
  it('carry many requests at a time', async () => {
    let underWay = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const endpoint = await http2Endpoint((stream) => {
      most = Math.max(most, ++underWay);
      waiting.push(() => {
        underWay--;
        stream.respond({ ':status': 204 }, { endStream: true });
      });
      if (waiting.length === 80) for (const answer of waiting.splice(0)) answer();
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answers = await sendMany(gateway.port, 80);
    expect(answers.every(({ status }) => status === 204)).toBe(true);
    expect(most).toBe(80);
    expect(endpoint.sessions).toHaveLength(1);
  });

  it('become more where the endpoint allows few streams on each', async () => {
    const waiting: (() => void)[] = [];
    const endpoint = await http2Endpoint(
      (stream) => {
        waiting.push(() => stream.respond({ ':status': 204 }, { endStream: true }));
        if (waiting.length === 5) for (const answer of waiting.splice(0)) answer();
      },
      { session: { settings: { maxConcurrentStreams: 2 } } },
    );
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answers = await sendMany(gateway.port, 5, { method: 'POST', body: 'x' });
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect(endpoint.sessions).toHaveLength(3);
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
    await sendMany(gateway.port, 5, { method: 'POST', body: 'x' });
    expect(endpoint.sessions).toHaveLength(3);
    expect(gateway.connections().upstream).toBe(3);
  });

  it('wait while the endpoint allows no stream at all, as long as a connection may take', async () => {
    const endpoint = await rawHttp2Endpoint(
      onRequest((id) => [headers(id, OK)]),
      {
        greeting: settings([SETTING.maxStreams, 0]),
      },
    );
    const gateway = await gatewayFor({
      endpoints: [endpoint.port],
      route: { ...H2C, timeout: { connect: '300ms' }, retry: { attempts: 1 } },
    });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`);
    expect(answer.status).toBe(504);
    expect(answer.headers['proxy-status']).toContain('connection_timeout');
    const call = send(`http://127.0.0.1:${gateway.port}/`);
    await waitFor(() => endpoint.connections.length === 2, { limitMs: 2000, what: 'the connection' });
    endpoint.connections[1]?.send(settings([SETTING.maxStreams, 10]));
    expect((await call).status).toBe(204);
  });

  it('close when the endpoint is gone', async () => {
    const endpoint = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const other = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    await send(`http://127.0.0.1:${gateway.port}/`);
    gateway.update([other.port]);
    await waitFor(() => endpoint.sessions[0]?.destroyed === true, { limitMs: 2000, what: 'the end of the session' });
    expect(gateway.connections().upstream).toBe(0);
  });

  it('end after the answers under way when the endpoint is gone', async () => {
    let answer: (() => void) | undefined;
    const endpoint = await http2Endpoint((stream) => {
      answer = () => stream.respond({ ':status': 204 }, { endStream: true });
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const call = send(`http://127.0.0.1:${gateway.port}/`);
    await waitFor(() => answer !== undefined, { limitMs: 2000, what: 'the request' });
    gateway.update([]);
    answer?.();
    expect((await call).status).toBe(204);
    await waitFor(() => gateway.connections().upstream === 0, { limitMs: 2000, what: 'the end of the connection' });
  });

  it('that nobody uses are closed after a minute, not before', async () => {
    const endpoint = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const clock = createScriptedClock();
    let open = 0;
    const onConnections = (by: 1 | -1): void => {
      open += by;
    };
    const sweep = new Sweep(clock);
    const upstream = new Http2Upstream({ sweep, onConnections });
    const target = { key: `127.0.0.1:${endpoint.port}`, host: '127.0.0.1', port: endpoint.port };
    expect(await statusOf(upstream, target)).toBe(204);
    clock.advance(59_000);
    await waitFor(() => sweep.nowMs === clock.nowMs(), { limitMs: 2000, what: 'a look at the deadlines' });
    expect(await statusOf(upstream, target)).toBe(204);
    expect(open).toBe(1);
    clock.advance(61_000);
    await waitFor(() => open === 0, { limitMs: 2000, what: 'the end of the connection' });
    expect(endpoint.sessions).toHaveLength(1);
    upstream.stop();
  });
});

function statusOf(upstream: Http2Upstream, target: UpstreamTarget): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = { method: 'GET', target: '/', host: 's', lines: '', content: null, tls: null };
    const timeouts = { connectMs: 1e6, responseMs: 1e6, idleMs: 1e6 };
    const http2 = { takesTrailers: false, grpcTimeoutMs: null };
    let status = 0;
    upstream.send(
      target,
      { ...request, timeouts, http2, dropTrailers: null, needsFresh: false },
      {
        onInterim: () => undefined,
        onHead: (head) => {
          status = head.status;
        },
        isHolding: false,
        onContent: () => true,
        onPause: () => true,
        onEnd: () => resolve(status),
        onFailure: ({ detail }) => reject(new Error(detail)),
      },
    );
  });
}

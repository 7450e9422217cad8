// Requests as a collector of traces sees them, and as the services behind see their trace context.
import { once } from 'node:events';
import { connect } from 'node:http2';
import { afterEach, describe, expect, it } from 'vitest';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, namedUpstream, sayingName } from '../../support/named-upstream.ts';
import type { CollectedSpan } from '../../support/otlp-collector.ts';
import { type OtlpCollector, startCollector } from '../../support/otlp-collector.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { contextsOf, only, tracedBy } from '../../support/traced.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

let owned = new AsyncDisposableStack();
afterEach(async () => {
  await owned.disposeAsync();
  owned = new AsyncDisposableStack();
});

async function collector(): Promise<OtlpCollector> {
  return owned.adopt(await startCollector(), (each) => each.stop());
}

const NO_EJECTION = { consecutiveFailures: 1_000_000, failurePercent: 'off' };

describe('a request that is recorded', () => {
  it('is a span, and its attempt a span below, which the service is told as its parent', async () => {
    const [to, upstream] = [await collector(), await namedUpstream('a')];
    const traced = tracedBy(to);
    const gateway = await gatewayFor({ endpoints: [upstream.port], tracer: traced.tracer });
    expect((await ask(gateway.port, get('/orders/1?token=secret', 'User-Agent: test\r\n'))).status).toBe(200);
    const spans = await traced.spans();
    const [server, client] = [only(spans, 'server')[0], only(spans, 'client')[0]];
    expect(contextsOf(upstream)).toEqual([`00-${server?.traceId}-${client?.spanId}-01`]);
    expect(server).toMatchObject({ name: 'GET r', parentSpanId: '', isError: false });
    expect(client).toMatchObject({ traceId: server?.traceId, parentSpanId: server?.spanId, isError: false });
    expect(server?.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'url.path': '/orders/1',
      'url.scheme': 'http',
      'client.address': '127.0.0.1',
      'network.protocol.version': '1.1',
      'user_agent.original': 'test',
      'weir.route': 'r',
      'weir.service': 's',
      'weir.attempts': 1,
    });
    expect(client?.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'server.port': upstream.port,
      'http.response.status_code': 200,
      'url.full': `http://127.0.0.1:${upstream.port}/orders/1`,
    });
    expect(server?.resource).toMatchObject({ 'service.name': 'edge', 'service.version': '1.2.3' });
    expect(spans.flatMap(({ attributes }) => Object.values(attributes)).join(' ')).not.toContain('secret');
    expect(gateway.records[0]?.traceId).toBe(server?.traceId);
    const [sent] = to.exports;
    expect([sent?.path, sent?.headers['x-token'], sent?.headers['content-type']]).toEqual([
      '/v1/traces',
      'abc',
      'application/json',
    ]);
  });

  it('has spans that lie within one another', async () => {
    const [to, upstream] = [await collector(), await namedUpstream('a')];
    const traced = tracedBy(to);
    const gateway = await gatewayFor({ endpoints: [upstream.port], tracer: traced.tracer });
    await ask(gateway.port, get('/'));
    const spans = await traced.spans();
    const [server, client] = [only(spans, 'server')[0], only(spans, 'client')[0]];
    if (server === undefined || client === undefined) throw new Error('a span is missing');
    // Times are written in whole nanoseconds of a clock that is coarser than that.
    const slackNs = 1000n;
    expect(client.startNs + slackNs).toBeGreaterThanOrEqual(server.startNs);
    expect(client.endNs).toBeGreaterThanOrEqual(client.startNs);
    expect(server.endNs + slackNs).toBeGreaterThanOrEqual(client.endNs);
  });

  it('has a span of its own for every attempt, and each endpoint was told the span of its attempt', async () => {
    const bad = await upstreamThat(({ socket }) => void socket.end());
    const [to, good] = [await collector(), await namedUpstream('good')];
    const traced = tracedBy(to);
    const route = { ejection: NO_EJECTION };
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route, tracer: traced.tracer });
    for (let at = 0; at < 2; at++) expect((await ask(gateway.port, get('/'))).status).toBe(200);
    const spans = await traced.spans();
    const toldTo = (port: number) => {
      const own = only(spans, 'client').filter(({ attributes }) => attributes['server.port'] === port);
      return own.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
    };
    expect(toldTo(bad.port).length).toBeGreaterThan(0);
    expect(contextsOf(bad).toSorted()).toEqual(toldTo(bad.port).toSorted());
    expect(contextsOf(good).toSorted()).toEqual(toldTo(good.port).toSorted());
    const retried = only(spans, 'server').find(({ attributes }) => attributes['weir.attempts'] === 2);
    const attempts = only(spans, 'client').filter(({ parentSpanId }) => parentSpanId === retried?.spanId);
    const said = ['server.port', 'http.request.resend_count', 'error.type'];
    expect(attempts.map(({ attributes, isError }) => [...said.map((name) => attributes[name]), isError])).toEqual([
      [bad.port, undefined, 'connection_terminated', true],
      [good.port, 1, undefined, false],
    ]);
    expect(new Set(attempts.map(({ spanId }) => spanId)).size).toBe(2);
    expect(retried).toMatchObject({ isError: false });
  });

  it('has two spans where a kept connection turned out to be closed, and the request was sent anew', async () => {
    const upstream = await upstreamThat((connection) => {
      if (connection.heads === 1) sayingName('a')(connection);
      else connection.socket.end();
    });
    const traced = tracedBy(await collector());
    const gateway = await gatewayFor({ endpoints: [upstream.port], tracer: traced.tracer });
    for (let at = 0; at < 2; at++) expect((await ask(gateway.port, get('/'))).status).toBe(200);
    const attempts = only(await traced.spans(), 'client');
    expect(attempts.map(({ attributes }) => attributes['weir.outcome'])).toEqual([
      'success',
      'connection_terminated',
      'success',
    ]);
    const told = attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
    expect(contextsOf(upstream).toSorted()).toEqual(told.toSorted());
    expect(gateway.records.map((record) => record.attempts.length)).toEqual([1, 1]);
  });

  it('is an error with a 5xx of the service, and with one of Weir', async () => {
    const failing = await upstreamThat(sayingName('x', '503 Service Unavailable'));
    const [closed = 0] = await findFreePorts(1);
    const traced = tracedBy(await collector());
    const { tracer } = traced;
    const route = { ejection: NO_EJECTION, retry: { attempts: 1 } };
    const one = await gatewayFor({ endpoints: [failing.port], route, tracer });
    const other = await gatewayFor({ endpoints: [closed], route, tracer });
    expect((await ask(one.port, get('/'))).status).toBe(503);
    expect((await ask(other.port, get('/'))).status).toBe(502);
    const spans = await traced.spans();
    const errorsOf = (kind: CollectedSpan['kind']) =>
      only(spans, kind).map(({ isError, attributes }) => [
        isError,
        attributes['error.type'],
        attributes['http.response.status_code'],
      ]);
    expect(errorsOf('server')).toEqual([
      [true, '503', 503],
      [true, 'connection_refused', 502],
    ]);
    expect(errorsOf('client')).toEqual([
      [true, '503', 503],
      [true, 'connection_refused', undefined],
    ]);
  });

  it('is one although no route takes it', async () => {
    const traced = tracedBy(await collector());
    const gateway = await gatewayFor({
      endpoints: [],
      route: { match: [{ paths: ['/a'] }] },
      tracer: traced.tracer,
    });
    expect((await ask(gateway.port, get('/b'))).status).toBe(404);
    const [span] = await traced.spans();
    expect(span).toMatchObject({ name: 'GET', isError: false, attributes: { 'weir.error': 'no_route' } });
  });

  it('has a span for the server of its fallback', async () => {
    const [closed = 0] = await findFreePorts(1);
    const [to, upstream] = [await collector(), await namedUpstream('spare')];
    const traced = tracedBy(to);
    const fallback = { chain: [{ upstream: [`http://127.0.0.1:${upstream.port}`] }] };
    const route = { fallback, ejection: NO_EJECTION };
    const gateway = await gatewayFor({ endpoints: [closed], route, tracer: traced.tracer });
    expect((await ask(gateway.port, get('/'))).content).toBe('spare');
    const spans = await traced.spans();
    const last = only(spans, 'client').at(-1);
    expect(last?.attributes).toMatchObject({ 'server.port': upstream.port, 'http.request.resend_count': 1 });
    expect(contextsOf(upstream)).toEqual([`00-${last?.traceId}-${last?.spanId}-01`]);
    expect(only(spans, 'server')[0]?.attributes['weir.degraded']).toMatch(/source=upstream$/);
  });

  it('may come by HTTP/2', async () => {
    const [to, upstream] = [await collector(), await namedUpstream('a')];
    const traced = tracedBy(to);
    const listener = { http2: true };
    const gateway = await gatewayFor({ endpoints: [upstream.port], listener, tracer: traced.tracer });
    const session = connect(`http://127.0.0.1:${gateway.port}`);
    const [traceId, parentId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const stream = session.request({ ':path': '/', traceparent: `00-${traceId}-${parentId}-01` });
    await once(stream.resume(), 'end');
    session.close();
    const spans = await traced.spans();
    const [server, client] = [only(spans, 'server')[0], only(spans, 'client')[0]];
    expect(server).toMatchObject({ traceId, parentSpanId: parentId, attributes: { 'network.protocol.version': '2' } });
    expect(contextsOf(upstream)).toEqual([`00-${traceId}-${client?.spanId}-01`]);
  });

  it('may be a tunnel, whose spans last as long as it', async () => {
    const traced = tracedBy(await collector());
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n<open>');
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], tracer: traced.tracer });
    const client = await RawClient.connect(gateway.port);
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
    client.send(`GET /ws HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n`);
    await client.until('<open>');
    expect(gateway.records).toEqual([]);
    client.close();
    await waitFor(() => gateway.records.length > 0, { limitMs: 5000, what: 'the end of the tunnel' });
    const spans = await traced.spans();
    const [attempt] = only(spans, 'client');
    expect(attempt?.attributes['http.response.status_code']).toBe(101);
    expect(contextsOf(upstream)).toEqual([`00-${attempt?.traceId}-${attempt?.spanId}-01`]);
  });
});

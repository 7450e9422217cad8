// What becomes of the trace context that a client sends.
import { afterEach, describe, expect, it } from 'vitest';
import { ask, namedUpstream } from '../../support/named-upstream.ts';
import { type OtlpCollector, startCollector } from '../../support/otlp-collector.ts';
import { get } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { contextsOf, only, tracedBy } from '../../support/traced.ts';

endAfterEach();

let owned = new AsyncDisposableStack();
afterEach(async () => {
  await owned.disposeAsync();
  owned = new AsyncDisposableStack();
});

async function collector(): Promise<OtlpCollector> {
  return owned.adopt(await startCollector(), (each) => each.stop());
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const TRUSTED = { trustedProxies: ['127.0.0.0/8'] };

const caller = (flags: string) => `traceparent: 00-${TRACE}-${CALLER}-${flags}\r\n`;

describe('the trace context of a client', () => {
  async function passedOn(fields: string, { samplePercent = 0, gateway: config = {}, route = {} } = {}) {
    const [to, upstream] = [await collector(), await namedUpstream('a')];
    const traced = tracedBy(to, { samplePercent });
    const { tracer } = traced;
    const gateway = await gatewayFor({ endpoints: [upstream.port], gateway: config, route, tracer });
    await ask(gateway.port, get('/', fields));
    const spans = await traced.spans();
    const [context = ''] = contextsOf(upstream);
    const [, traceId = '', parentId = '', flags = ''] = context.split('-');
    return {
      received: upstream.received(),
      traceId,
      parentId,
      flags,
      spans,
      count: contextsOf(upstream).length,
    };
  }

  it('of a trusted proxy decides whether the request is recorded, and is its parent', async () => {
    const { traceId, flags, spans } = await passedOn(caller('01'), { gateway: TRUSTED });
    expect([traceId, flags, spans.length]).toEqual([TRACE, '01', 2]);
    expect(only(spans, 'server')[0]).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  });

  it('of a trusted proxy that records nothing is not recorded here either', async () => {
    const { traceId, flags, spans } = await passedOn(caller('00'), { gateway: TRUSTED, samplePercent: 100 });
    expect([traceId, flags, spans]).toEqual([TRACE, '00', []]);
  });

  it('of anybody else is gone on with, and does not decide what is recorded', async () => {
    const refused = await passedOn(caller('01'));
    expect([refused.traceId, refused.flags, refused.spans]).toEqual([TRACE, '00', []]);
    expect(refused.parentId).not.toBe(CALLER);
    const recorded = await passedOn(caller('00'), { samplePercent: 100 });
    expect([recorded.traceId, recorded.flags, recorded.spans.length]).toEqual([TRACE, '01', 2]);
    expect(only(recorded.spans, 'server')[0]).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  });

  it('is one field upstream, in place of what the client sent, and keeps the flag of a random id', async () => {
    const { received, count, flags } = await passedOn(
      `TraceParent: 00-${TRACE}-${CALLER}-02\r\ntracestate: a=1\r\nTraceState: b=2\r\n`,
    );
    expect([count, flags]).toEqual([1, '02']);
    expect(received.match(/^tracestate:.*$/gim)).toEqual(['tracestate: a=1,b=2']);
    expect(received.match(/^traceparent:/gim)).toHaveLength(1);
  });

  it.each([
    ['none', ''],
    ['a bad one', `traceparent: 00-${TRACE}-${CALLER}\r\n`],
    ['several', caller('01') + caller('01')],
  ])('that is %s begins a new trace, without the tracestate', async (_what, fields) => {
    const { traceId, flags, received, count } = await passedOn(`${fields}tracestate: a=1\r\n`, { gateway: TRUSTED });
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect([traceId === TRACE, flags, count, received.includes('tracestate')]).toEqual([false, '00', 1, false]);
  });

  it('is not passed on, and none of Weir either, where the route takes it out', async () => {
    const route = { rewrite: { requestHeaders: { remove: ['traceparent'] } } };
    const { received } = await passedOn(`${caller('01')}tracestate: a=1\r\n`, { route, samplePercent: 100 });
    expect(received).not.toMatch(/^trace/im);
    const withoutState = { rewrite: { requestHeaders: { remove: ['TraceState'] } } };
    const other = await passedOn(`${caller('01')}tracestate: a=1\r\n`, { route: withoutState });
    expect([other.count, other.received.includes('tracestate')]).toEqual([1, false]);
  });

  it.each([
    ['well-formed', `traceparent: 00-${TRACE}-${CALLER}-01\r\nX-b: 1\r\ntracestate: a=1 ,b=2\r\n`],
    ['malformed', 'Traceparent: nonsense\r\ntraceparent: more\r\nTRACESTATE: ===\r\n'],
  ])('passes as it is where nothing is traced, also when it is %s', async (_what, fields) => {
    const upstream = await namedUpstream('a');
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    await ask(gateway.port, get('/', fields));
    expect(upstream.received()).toContain(fields);
    expect(upstream.received().match(/^trace/gim)).toHaveLength(fields.match(/^trace/gim)?.length ?? 0);
    expect(gateway.records[0]?.traceId).toBeUndefined();
  });
});

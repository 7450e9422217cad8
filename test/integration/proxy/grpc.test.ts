// gRPC through the gateway: a grpc-js client in front, grpc-js services behind.
import { Metadata, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { EchoClient, type EchoHandlers, type EchoService, type Message, startEcho } from '../../support/grpc-echo.ts';
import { type Http2Gateway, startHttp2Gateway } from '../../support/http2-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

const running: { stop(): unknown }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

async function echo(handlers: EchoHandlers, port = 0): Promise<EchoService> {
  const service = await startEcho(handlers, port);
  running.push(service);
  return service;
}

async function gatewayTo(
  ports: readonly number[],
  route: Readonly<Record<string, unknown>> = {},
): Promise<Http2Gateway> {
  const gateway = await startHttp2Gateway({ endpoints: ports, route: { protocol: 'h2c', body: 'off', ...route } });
  running.push(gateway);
  return gateway;
}

function clientOf({ port }: { readonly port: number }): EchoClient {
  const client = new EchoClient(port);
  running.push({ stop: () => client.close() });
  return client;
}

type Unary = (call: ServerUnaryCall<Message, Message>, answer: sendUnaryData<Message>) => void;

const same: Unary = ({ request }, answer) => answer(null, request);
const failing =
  (code: number, details: string): Unary =>
  (_call, answer) =>
    answer({ code, details });

describe('a gRPC call through the gateway', () => {
  it('of one message has one back, with the metadata both ways', async () => {
    let received: Metadata | undefined;
    const service = await echo({
      unary: (call, answer) => {
        received = call.metadata;
        const initial = new Metadata();
        initial.set('x-initial', 'i');
        call.sendMetadata(initial);
        const trailing = new Metadata();
        trailing.set('x-trailing', 't');
        trailing.set('x-octets-bin', Buffer.from([0, 255]));
        answer(null, call.request, trailing);
      },
    });
    const client = clientOf(await gatewayTo([service.port]));
    const end = await client.unary('hello', { metadata: { 'x-mine': 'm' } });
    expect(end).toMatchObject({ code: status.OK, messages: ['hello'] });
    expect(received?.get('x-mine')).toEqual(['m']);
    expect(received?.get('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(end.initial.get('x-initial')).toEqual(['i']);
    expect(end.trailing.get('x-trailing')).toEqual(['t']);
    expect(end.trailing.get('x-octets-bin')).toEqual([Buffer.from([0, 255])]);
  });

  it('of many messages has one back', async () => {
    const service = await echo({
      collect: (call, answer) => {
        const texts: string[] = [];
        call.on('data', ({ text }: Message) => texts.push(text));
        call.on('end', () => answer(null, { text: texts.join(' ') }));
      },
    });
    const client = clientOf(await gatewayTo([service.port]));
    expect(await client.collect(['a', 'b', 'c'])).toMatchObject({ code: status.OK, messages: ['a b c'] });
  });

  it('of one message has many back', async () => {
    const service = await echo({
      spread: (call) => {
        for (let at = 0; at < 100; at++) call.write({ text: `${call.request.text} ${at}` });
        call.end();
      },
    });
    const client = clientOf(await gatewayTo([service.port]));
    const { code, messages } = await client.spread('n').end;
    expect(code).toBe(status.OK);
    expect(messages).toEqual(Array.from({ length: 100 }, (_, at) => `n ${at}`));
  });

  it('talks both ways, message by message', async () => {
    const service = await echo({
      chat: (call) => {
        call.on('data', ({ text }: Message) => call.write({ text: `${text}!` }));
        call.on('end', () => call.end());
      },
    });
    const client = clientOf(await gatewayTo([service.port]));
    const { call, end } = client.chat();
    const got: string[] = [];
    call.on('data', ({ text }: Message) => got.push(text));
    for (const text of ['one', 'two', 'three']) {
      call.write({ text });
      await waitFor(() => got.at(-1) === `${text}!`, { limitMs: 3000, what: 'the answer' });
    }
    call.end();
    expect(await end).toMatchObject({ code: status.OK });
  });

  it('carries large messages both ways', async () => {
    const service = await echo({ unary: same });
    const client = clientOf(await gatewayTo([service.port]));
    const text = 'x'.repeat(8_000_000);
    const { code, messages } = await client.unary(text);
    expect(code).toBe(status.OK);
    expect(messages[0] === text).toBe(true);
  });

  it('shares one connection to the service with hundreds of others', async () => {
    const service = await echo({ unary: same });
    const gateway = await gatewayTo([service.port]);
    const client = clientOf(gateway);
    const ends = await Promise.all(Array.from({ length: 300 }, (_, at) => client.unary(String(at))));
    expect(ends.map(({ messages }) => messages[0])).toEqual(Array.from({ length: 300 }, (_, at) => String(at)));
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
  });

  it.each([
    ['NOT_FOUND', status.NOT_FOUND, 0],
    ['FAILED_PRECONDITION', status.FAILED_PRECONDITION, 0],
    ['RESOURCE_EXHAUSTED', status.RESOURCE_EXHAUSTED, 0],
    ['INTERNAL', status.INTERNAL, 1],
    ['UNAVAILABLE', status.UNAVAILABLE, 1],
    ['DATA_LOSS', status.DATA_LOSS, 1],
  ])('that ends with %s tells the client, and counts by what it means', async (_name, code, failures) => {
    const service = await echo({ unary: failing(code, 'söme reason') });
    const gateway = await gatewayTo([service.port]);
    const end = await clientOf(gateway).unary('hello');
    expect(end).toMatchObject({ code, details: 'söme reason', messages: [] });
    expect(gateway.endpoints()[0]).toMatchObject({ failures });
  });

  it('that ends with UNAVAILABLE behind its messages counts against the endpoint', async () => {
    const service = await echo({
      spread: (call) => {
        call.write({ text: 'a' });
        call.emit('error', { code: status.UNAVAILABLE, details: 'gone' });
      },
    });
    const gateway = await gatewayTo([service.port]);
    const end = await clientOf(gateway).spread('n').end;
    expect(end).toMatchObject({ code: status.UNAVAILABLE, messages: ['a'] });
    await waitFor(() => gateway.endpoints()[0]?.failures === 1, { limitMs: 2000, what: 'the failure' });
  });
});

describe('a gRPC client that leaves', () => {
  it('cancels the call at the service', async () => {
    let isCancelled = false;
    const service = await echo({
      chat: (call) => {
        call.on('cancelled', () => {
          isCancelled = true;
        });
        call.write({ text: 'first' });
      },
    });
    const gateway = await gatewayTo([service.port]);
    const { call, end } = clientOf(gateway).chat();
    call.once('data', () => call.cancel());
    expect(await end).toMatchObject({ code: status.CANCELLED });
    await waitFor(() => isCancelled, { limitMs: 3000, what: 'the cancellation' });
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0, inFlight: 0 });
  });
});

describe('the deadline of a gRPC call', () => {
  it('goes to the service, less the time that is over, and bounds the call', async () => {
    let leftMs = Number.NaN;
    const service = await echo({
      unary: (call) => {
        leftMs = Number(call.getDeadline()) - Date.now();
      },
    });
    const gateway = await gatewayTo([service.port]);
    const end = await clientOf(gateway).unary('hello', { deadlineMs: 500 });
    expect(end.code).toBe(status.DEADLINE_EXCEEDED);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(500);
    await waitFor(() => gateway.endpoints()[0]?.inFlight === 0, { limitMs: 3000, what: 'the end of the call' });
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
  });

  it('is the time of the route where that is shorter', async () => {
    const service = await echo({ unary: () => undefined });
    const gateway = await gatewayTo([service.port], { timeout: { total: '200ms' } });
    const end = await clientOf(gateway).unary('hello', { deadlineMs: 20_000 });
    expect(end).toMatchObject({ code: status.DEADLINE_EXCEEDED, details: 'The service did not answer in time.' });
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 1 });
  });
});

describe("the gateway's own answer to a gRPC call", () => {
  it('is UNAVAILABLE where nobody can be reached', async () => {
    const service = await echo({});
    service.stop();
    const end = await clientOf(await gatewayTo([service.port])).unary('hello');
    expect(end).toMatchObject({ code: status.UNAVAILABLE, details: 'The service refused the connection.' });
    expect(end.trailing.get('proxy-status')).toEqual(['weir; error=connection_refused']);
  });

  it('is UNIMPLEMENTED where no route is for it', async () => {
    const service = await echo({ unary: same });
    const gateway = await gatewayTo([service.port], { match: [{ paths: ['/other/*'] }] });
    expect(await clientOf(gateway).unary('hello')).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('is RESOURCE_EXHAUSTED where the message is too large', async () => {
    const service = await echo({ unary: same });
    const gateway = await gatewayTo([service.port], { body: '1KiB' });
    expect(await clientOf(gateway).unary('x'.repeat(2000))).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  });
});

describe('two gRPC services', () => {
  it('stand in for one another when one cannot be reached', async () => {
    const [gone, service] = [await echo({}), await echo({ unary: same })];
    gone.stop();
    const client = clientOf(await gatewayTo([gone.port, service.port]));
    for (let at = 0; at < 6; at++) expect(await client.unary('hello')).toMatchObject({ code: status.OK });
  });

  it('stand in for one another when one is UNAVAILABLE and the client says that it may', async () => {
    const broken = await echo({ unary: failing(status.UNAVAILABLE, 'not now') });
    const service = await echo({ unary: same });
    const client = clientOf(await gatewayTo([broken.port, service.port]));
    const metadata = { 'idempotency-key': '1' };
    for (let at = 0; at < 4; at++) expect(await client.unary('hello', { metadata })).toMatchObject({ code: status.OK });
  });

  it('do not when the client does not say so: the call may have been carried out', async () => {
    const broken = await echo({ unary: failing(status.UNAVAILABLE, 'not now') });
    const service = await echo({ unary: same });
    const client = clientOf(await gatewayTo([broken.port, service.port]));
    const codes = [(await client.unary('a')).code, (await client.unary('b')).code].sort((a, b) => a - b);
    expect(codes).toEqual([status.OK, status.UNAVAILABLE]);
  });

  it('of which one dies in the middle of its messages never look complete', async () => {
    const service = await echo({
      spread: (call) => {
        call.write({ text: 'a' });
      },
    });
    const gateway = await gatewayTo([service.port]);
    const { call, end } = clientOf(gateway).spread('n');
    call.once('data', () => service.stop());
    const { code, messages } = await end;
    expect(code).not.toBe(status.OK);
    expect(messages).toEqual(['a']);
    await waitFor(() => gateway.endpoints()[0]?.failures === 1, { limitMs: 3000, what: 'the failure' });
  });
});

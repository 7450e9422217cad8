// gRPC through a real gateway: grpc-js over TLS in front, grpc-js services behind, plain and over TLS.
import { type handleBidiStreamingCall, type handleUnaryCall, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { EchoClient, type EchoHandlers, type Message, startEcho } from '../support/grpc-echo.ts';
import { startTlsWeir, type TlsWeir } from '../support/tls-weir.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 20_000;
const CALLS = 200;

describe.skipIf(!hasOpenssl()).each(['h2c', 'h2'] as const)('gRPC over TLS to a service that speaks %s', (protocol) => {
  const owned = new AsyncDisposableStack();
  const cancelled: string[] = [];
  /** Milliseconds that calls without an answer had left, as the service was told. */
  const leftMs: number[] = [];
  let front: TlsWeir;
  let client: EchoClient;

  const unary: handleUnaryCall<Message, Message> = (call, answer) => {
    const { text } = call.request;
    if (text === 'missing') answer({ code: status.NOT_FOUND, details: 'no such thing' });
    else if (text === 'silence') leftMs.push(Number(call.getDeadline()) - Date.now());
    else answer(null, { text: `${text}!` });
  };
  const chat: handleBidiStreamingCall<Message, Message> = (call) => {
    call.on('data', ({ text }: Message) => call.write({ text: `${text}!` }));
    call.on('end', () => call.end());
    call.on('cancelled', () => cancelled.push('chat'));
  };
  const handlers: EchoHandlers = {
    unary,
    chat,
    collect: (call, answer) => {
      const texts: string[] = [];
      call.on('data', ({ text }: Message) => texts.push(text));
      call.on('end', () => answer(null, { text: texts.join(' ') }));
    },
    spread: (call) => {
      for (let at = 0; at < 500; at++) call.write({ text: `${call.request.text} ${at}` });
      call.end();
    },
  };

  beforeAll(async () => {
    const authority = owned.adopt(createAuthority(), (each) => each.remove());
    const service = await startEcho(handlers, 0, protocol === 'h2' ? authority.sign('service') : undefined);
    owned.defer(() => service.stop());
    const [nobody = 0] = await findFreePorts(1);
    const route = (name: string, port: number, more: object) => ({
      service: name,
      protocol,
      endpoints: [`127.0.0.1:${port}`],
      body: 'off',
      ...more,
    });
    const header = (name: string) => ({ paths: ['/weir.test.Echo/*'], headers: { 'x-route': name } });
    front = await startTlsWeir(owned, {
      authority,
      routes: {
        echo: route('echo', service.port, { match: [{ paths: ['/weir.test.Echo/*'] }] }),
        nobody: route('nobody', nobody, { match: [header('nobody')] }),
        hasty: route('hasty', service.port, { match: [header('hasty')], timeout: { total: '200ms' } }),
        small: route('small', service.port, { match: [header('small')], body: '1KiB' }),
      },
    });
    client = new EchoClient(front.port, front.ca);
    owned.defer(() => client.close());
  });
  afterAll(() => owned.disposeAsync());

  it('carries the four kinds of call', async () => {
    expect(await client.unary('one')).toMatchObject({ code: status.OK, messages: ['one!'] });
    expect(await client.collect(['a', 'b', 'c'])).toMatchObject({ code: status.OK, messages: ['a b c'] });
    const spread = await client.spread('n').end;
    expect(spread.code).toBe(status.OK);
    expect(spread.messages).toEqual(Array.from({ length: 500 }, (_, at) => `n ${at}`));
    const { call, end } = client.chat();
    const got: string[] = [];
    call.on('data', ({ text }: Message) => got.push(text));
    for (const text of ['one', 'two', 'three']) {
      call.write({ text });
      await waitFor(() => got.at(-1) === `${text}!`, { limitMs: LIMIT_MS, what: `the answer to ${text}` });
    }
    call.end();
    expect(await end).toMatchObject({ code: status.OK });
    const isLogged = () =>
      front.weir.accessLog().some(({ path, version }) => path === '/weir.test.Echo/Chat' && version === '2');
    await waitFor(isLogged, { limitMs: LIMIT_MS, what: 'the access log' });
  });

  it(`carries ${CALLS} calls at once, and large messages`, async () => {
    const ends = await Promise.all(Array.from({ length: CALLS }, (_, at) => client.unary(String(at))));
    expect(ends.map(({ messages }) => messages[0])).toEqual(Array.from({ length: CALLS }, (_, at) => `${at}!`));
    const text = 'x'.repeat(4_000_000);
    const { code, messages } = await client.unary(text);
    expect([code, messages[0] === `${text}!`]).toEqual([status.OK, true]);
  });

  it('tells the service the deadline, and ends the call at it', async () => {
    expect((await client.unary('silence', { deadlineMs: 400 })).code).toBe(status.DEADLINE_EXCEEDED);
    expect(leftMs.at(-1)).toBeGreaterThan(0);
    expect(leftMs.at(-1)).toBeLessThanOrEqual(400);
  });

  it('cancels at the service what its client cancels', async () => {
    const { call, end } = client.chat();
    call.once('data', () => call.cancel());
    call.write({ text: 'first' });
    expect((await end).code).toBe(status.CANCELLED);
    await waitFor(() => cancelled.length === 1, { limitMs: LIMIT_MS, what: 'the cancellation' });
  });

  it.each([
    ['of the service', {}, 'missing', status.NOT_FOUND, 'no such thing'],
    ['where nobody can be reached', { 'x-route': 'nobody' }, 'a', status.UNAVAILABLE, 'refused the connection'],
    ['after the time of the route', { 'x-route': 'hasty' }, 'silence', status.DEADLINE_EXCEEDED, 'in time'],
    ['for a large message', { 'x-route': 'small' }, 'x'.repeat(2000), status.RESOURCE_EXHAUSTED, ''],
  ])('tells the status %s as gRPC does', async (_what, metadata, text, code, details) => {
    const end = await client.unary(text, { metadata });
    expect(end).toMatchObject({ code, details: expect.stringContaining(details) });
  });
});

// The end of an answer that a slow reader has not taken yet when it says that it will ask nothing more.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { gatewaySchema } from '../../../gateway/config/gateway-schema.ts';
import { systemClock } from '../../../gateway/core/clock.ts';
import { compileTrust, describePeer } from '../../../gateway/proxy/client-address.ts';
import { ClientConnection } from '../../../gateway/proxy/front/client-connection.ts';
import type { ConnectionHost } from '../../../gateway/proxy/front/connection-host.ts';
import { HttpDate } from '../../../gateway/proxy/front/http-date.ts';
import { Sweep } from '../../../gateway/proxy/sweep.ts';
import { waitFor } from '../../support/wait-for.ts';

const PIECE = Buffer.alloc(20_000, 'x');
const open: { destroy(): unknown }[] = [];

afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

/** Connections whose requests are answered by `answer`; the port. */
async function listenerThat(answer: (...given: [...Parameters<ConnectionHost['onRequest']>, Socket]) => void) {
  const { limits, timeouts } = gatewaySchema.parse({});
  const sweep = new Sweep(systemClock);
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.push(socket);
    const host: ConnectionHost = {
      headLimits: {
        firstLineBytes: limits.requestLineBytes,
        fieldsBytes: limits.headersBytes,
        fieldCount: limits.headerCount,
      },
      timeouts,
      sweep,
      isDraining: false,
      date: new HttpDate(systemClock, sweep),
      hstsLine: '',
      onRequest: (exchange, options) => answer(exchange, options, socket),
      onRefused: () => undefined,
      onClosed: () => undefined,
    };
    new ClientConnection(socket, host, describePeer(socket.remoteAddress, compileTrust([])));
  }).listen(0, '127.0.0.1');
  open.push({ destroy: () => server.close() });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('the end of an answer that waits for a slow reader', () => {
  it('arrives when the client has said its last', async () => {
    let given = 0;
    const waiting: number[] = [];
    const ended: Promise<unknown>[] = [];
    const port = await listenerThat((exchange, _options, socket) => {
      const head = { status: 200, reason: 'OK', lines: '', hasDate: false };
      exchange.sendHead({ ...head, framing: { kind: 'chunked' } });
      exchange.flush();
      // As much as the system takes, and one piece more, which is too little to make the connection stop reading.
      for (; socket.writableLength === 0; given += PIECE.length) exchange.write(PIECE);
      exchange.end('');
      waiting.push(socket.writableLength);
      ended.push(once(socket, 'end'));
    });
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    open.push(client);
    client.on('error', () => undefined);
    await once(client, 'connect');
    client.pause();
    client.end('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    await waitFor(() => ended.length === 1, { limitMs: 3000, what: 'the answer' });
    expect(waiting[0]).toBeGreaterThan(0);
    await ended[0];
    let received = 0;
    let last = '';
    client.on('data', (piece: Buffer) => {
      received += piece.toString('latin1').replaceAll(/[^x]/g, '').length;
      last = piece.subarray(-5).toString('latin1');
    });
    client.resume();
    await once(client, 'close');
    expect([received, last]).toEqual([given, '0\r\n\r\n']);
  });
});

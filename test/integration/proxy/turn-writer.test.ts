// The writing end of a connection: what waits for the end of the turn, in which order it goes out, what is never lost.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { TurnWriter } from '../../../gateway/proxy/socket/turn-writer.ts';
import { waitFor } from '../../support/wait-for.ts';

const LARGE = 'x'.repeat(16_385);
const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

/** A writer, its socket, and what its other end has received; nothing is read there until `read`. */
async function connected() {
  const peers: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (peer) => void peers.push(peer)).listen(0, '127.0.0.1');
  open.push({ destroy: () => void server.close() });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const socket = connect(address.port, '127.0.0.1');
  await once(socket, 'connect');
  const peer = await waitFor(() => peers[0], { limitMs: 3000, what: 'the connection' });
  open.push(socket, peer);
  peer.on('error', () => undefined);
  const state = { received: '', isFull: false };
  peer.on('data', (piece: Buffer) => {
    state.received += piece.toString('latin1');
  });
  peer.pause();
  const writer = new TurnWriter(socket, () => {
    state.isFull = true;
  });
  return { writer, socket, state, read: () => peer.resume() };
}

async function received(state: { received: string }, wanted: string): Promise<void> {
  await waitFor(() => state.received === wanted, { limitMs: 3000, what: 'what was written' });
}

describe('a writer of a turn', () => {
  it('holds small text back until the turn ends', async () => {
    const { writer, socket } = await connected();
    writer.writeText('one ');
    writer.writeText('two');
    expect(socket.bytesWritten).toBe(0);
    await turn();
    expect(socket.bytesWritten).toBe(7);
  });

  it('writes large text at once, behind what it held back', async () => {
    const { writer, socket, state, read } = await connected();
    writer.writeText('one ');
    writer.writeText(LARGE);
    expect(socket.bytesWritten).toBe(4 + LARGE.length);
    read();
    await received(state, `one ${LARGE}`);
  });

  it('writes octets at once, behind what it held back, and holds again what follows', async () => {
    const { writer, socket, state, read } = await connected();
    writer.writeText('one ');
    writer.writeOctets(Buffer.from('two '));
    writer.writeText('three');
    expect(socket.bytesWritten).toBe(8);
    read();
    await received(state, 'one two three');
  });

  it('loses nothing when it is told to send before the socket is destroyed', async () => {
    const { writer, socket, state, read } = await connected();
    writer.writeText('the last answer');
    writer.send();
    socket.destroy();
    read();
    await received(state, 'the last answer');
  });

  it('writes nothing to a socket that is destroyed', async () => {
    const { writer, socket } = await connected();
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    writer.writeText('too late');
    socket.destroy();
    await turn();
    await turn();
    expect(errors).toEqual([]);
    expect(socket.bytesWritten).toBe(0);
  });

  it('says so when the other end reads slower, also of text that it held back', async () => {
    const { writer, socket, state, read } = await connected();
    const piece = 'x'.repeat(16_000);
    let writes = 0;
    while (writer.writeText(piece)) {
      writes++;
      await turn();
    }
    expect(state.isFull).toBe(true);
    read();
    await once(socket, 'drain');
    await received(state, piece.repeat(writes + 1));
  });
});

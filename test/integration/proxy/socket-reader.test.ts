// The reading end of an accepted connection: whose memory the pieces are in, and what happens when it is given away.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { SocketReader } from '../../../gateway/proxy/socket/socket-reader.ts';
import { createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { waitFor } from '../../support/wait-for.ts';

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

/** Both ends of a connection. */
async function connected(): Promise<{ client: Socket; socket: Socket }> {
  const accepted: Socket[] = [];
  const server = createServer((socket) => void accepted.push(socket)).listen(0, '127.0.0.1');
  open.push({ destroy: () => void server.close() });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = connect(address.port, '127.0.0.1');
  const socket = await waitFor(() => accepted[0], { limitMs: 3000, what: 'the connection' });
  open.push(client, socket);
  return { client, socket };
}

/** Both ends of a TLS connection. */
async function connectedOverTls(): Promise<{ client: Socket; socket: Socket }> {
  const authority = createAuthority();
  const { cert, key } = authority.sign('front');
  authority.remove();
  const accepted: Socket[] = [];
  const server = createTlsServer({ cert, key }, (socket) => void accepted.push(socket)).listen(0, '127.0.0.1');
  open.push({ destroy: () => void server.close() });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = connectTls({ port: address.port, host: '127.0.0.1', ca: authority.ca });
  const socket = await waitFor(() => accepted[0], { limitMs: 3000, what: 'the connection' });
  open.push(client, socket);
  return { client, socket };
}

/** A reader that notes its pieces: what each said when it came, and the memory that it is in. */
function reading(socket: Socket) {
  const said: string[] = [];
  const memory: ArrayBufferLike[] = [];
  const reader = new SocketReader(socket, (piece) => {
    said.push(piece.toString());
    memory.push(piece.buffer);
  });
  return { reader, said, memory };
}

/** Sends so many pieces, each when the one before has come. */
async function send(client: Socket, said: readonly string[], pieces: number): Promise<void> {
  for (let at = 0; at < pieces; at++) {
    const wanted = said.length + 1;
    client.write(`piece ${wanted}`);
    await waitFor(() => said.length === wanted, { limitMs: 3000, what: `piece ${wanted}` });
  }
}

describe('the reading end of an accepted connection', () => {
  it('reads into the same memory from the third piece on', async () => {
    const { client, socket } = await connected();
    const { said, memory } = reading(socket);
    await send(client, said, 5);
    expect(said).toEqual(['piece 1', 'piece 2', 'piece 3', 'piece 4', 'piece 5']);
    expect(memory[3]).toBe(memory[2]);
    expect(memory[4]).toBe(memory[2]);
    expect(memory[1]).not.toBe(memory[2]);
  });

  it('has one memory for all connections while little comes on them', async () => {
    const both = [await connected(), await connected()];
    const readings = both.map(({ socket }) => reading(socket));
    for (const [at, { client }] of both.entries()) await send(client, readings[at]?.said ?? [], 4);
    expect(readings[0]?.memory[3]).toBe(readings[1]?.memory[3]);
  });

  it('makes few octets its own, and keeps the memory of many where it is told', async () => {
    const { client, socket } = await connected();
    const kept: Buffer[] = [];
    let bytes = 0;
    const reader: SocketReader = new SocketReader(socket, (piece) => {
      bytes += piece.length;
      const own = reader.own(piece);
      reader.keep(own);
      kept.push(own);
    });
    const content = Buffer.from(Uint32Array.from({ length: 500_000 }, (_, at) => at).buffer);
    for (let at = 0; at < content.length; at += 40_000) {
      client.write(content.subarray(at, at + 40_000));
      await waitFor(() => bytes === Math.min(at + 40_000, content.length), { limitMs: 3000, what: 'the octets' });
    }
    expect(Buffer.concat(kept).equals(content)).toBe(true);
  });

  it('tells of the end', async () => {
    const { client, socket } = await connected();
    const { said } = reading(socket);
    await send(client, said, 3);
    const ended = once(socket, 'end');
    client.end('last');
    await ended;
    expect(said.at(-1)).toBe('last');
  });

  it.each([1, 2, 3, 5])('gives no more while its taker has paused the socket, at piece %i', async (pieces) => {
    const { client, socket } = await connected();
    const said: string[] = [];
    new SocketReader(socket, (piece) => {
      if (said.push(piece.toString()) === pieces) socket.pause();
    });
    await send(client, said, pieces);
    const content = Array.from({ length: 60_000 }, (_, at) => `${at},`).join('');
    client.write(content);
    const other = await connected();
    const { said: otherSaid } = reading(other.socket);
    // A loop that reads others has had the time to read this one.
    await send(other.client, otherSaid, 5);
    expect(said).toHaveLength(pieces);
    socket.resume();
    const more = () => said.slice(pieces).join('');
    await waitFor(() => more().length === content.length, { limitMs: 3000, what: 'the octets' });
    expect(more()).toBe(content);
  });

  it.skipIf(!hasOpenssl()).each([1, 2, 3, 5])(
    'gives no more of what came over TLS while its taker has paused the socket, at piece %i',
    async (pieces) => {
      const { client, socket } = await connectedOverTls();
      const said: string[] = [];
      new SocketReader(socket, (piece) => {
        if (said.push(piece.toString()) === pieces) socket.pause();
      });
      await send(client, said, pieces - 1);
      // Many records that are there at once: Node reads them all.
      client.cork();
      const content = Array.from({ length: 9000 }, (_, at) => `${at},`);
      for (let at = 0; at < content.length; at += 90) client.write(content.slice(at, at + 90).join(''));
      client.uncork();
      await waitFor(() => said.length === pieces, { limitMs: 3000, what: 'the piece' });
      const other = await connected();
      const { said: otherSaid } = reading(other.socket);
      await send(other.client, otherSaid, 5);
      expect(said).toHaveLength(pieces);
      socket.resume();
      const more = () => said.slice(pieces - 1).join('');
      await waitFor(() => more().length === content.join('').length, { limitMs: 3000, what: 'the octets' });
      expect(more()).toBe(content.join(''));
    },
  );

  it('keeps no more memory than twice what it is asked to save', async () => {
    const { client, socket } = await connected();
    const saved: Buffer[] = [];
    let bytes = 0;
    const reader: SocketReader = new SocketReader(socket, (piece) => {
      bytes += piece.length;
      saved.push(reader.save(reader.own(piece)));
    });
    const content = Buffer.from(Uint32Array.from({ length: 500_000 }, (_, at) => at).buffer);
    for (let at = 0; at < content.length; at += 20_000) {
      client.write(content.subarray(at, at + 20_000));
      await waitFor(() => bytes === Math.min(at + 20_000, content.length), { limitMs: 3000, what: 'the octets' });
    }
    expect(Buffer.concat(saved).equals(content)).toBe(true);
    // The first two are Node's.
    const kept = new Set(saved.slice(2).map(({ buffer }) => buffer));
    const keptBytes = [...kept].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(keptBytes).toBeLessThan(2 * content.length + 65_536);
  });

  it.each([1, 4])('gives a stream with its own octets to who takes the socket after %i pieces', async (pieces) => {
    const { client, socket } = await connected();
    const { reader, said } = reading(socket);
    await send(client, said, pieces);
    socket.pause();
    reader.leave();
    socket.unshift(Buffer.from('put back '));
    const taken: Buffer[] = [];
    const text = () => Buffer.concat(taken).toString();
    socket.on('data', (piece: Buffer) => void taken.push(piece));
    socket.resume();
    for (const next of ['one ', 'two ', 'x'.repeat(200_000), ' end']) {
      client.write(next);
      await waitFor(() => text().endsWith(next), { limitMs: 3000, what: 'what was sent' });
    }
    expect(text()).toBe(`put back one two ${'x'.repeat(200_000)} end`);
    expect(said).toHaveLength(pieces);
  });

  it('reads a stream as ever where Node has no such memory', async () => {
    const { client, socket } = await connected();
    Object.assign(Reflect.get(socket, '_handle'), { useUserBuffer: undefined });
    const { reader, said } = reading(socket);
    await send(client, said, 4);
    expect(said.at(-1)).toBe('piece 4');
    const view = Buffer.from('its own');
    expect(reader.own(view)).toBe(view);
    reader.leave();
  });
});

// Sockets that read into memory of ours. `onread` of `net.connect` does that; sockets of a server have no such option.
import { Socket } from 'node:net';
import type { ReadBuffer } from './read-buffer.ts';

/** What `onread` becomes on a socket (lib/net.js; seen in Node 24 and 26): memory, callback, and who gives other memory. */
const MEMORY = symbolOf('kBuffer');
const CALLBACK = symbolOf('kBufferCb');
const GENERATOR = symbolOf('kBufferGen');

/** What a stream is read into that copies it out again. A thread reads one socket at a time. */
const PASSING = Buffer.allocUnsafeSlow(65_536);

/** A socket with what is private to Node. */
interface Inside {
  readonly _handle?: { readonly useUserBuffer?: (memory: Uint8Array) => void } | null;
  [name: symbol]: unknown;
}

/**
 * Has what arrives from now on read into memory of ours, as `onread` does; the stream must hold nothing. False where this
 * Node cannot: then everything goes on to come as `data`. Saves a buffer and its way through the stream for each read.
 */
export function readDirectly(socket: Socket, buffer: ReadBuffer, onPiece: (piece: Buffer) => void): boolean {
  const inside = socket as unknown as Inside;
  const handle = inside._handle;
  if (MEMORY === undefined || CALLBACK === undefined || GENERATOR === undefined) return false;
  if (typeof handle?.useUserBuffer !== 'function') return false;
  // A stream that waits for what it has asked for asks for no more. Else it would, to hold it, also while it is paused.
  socket.read(0);
  const memory = buffer.next();
  const next = (): Buffer => buffer.next();
  inside[MEMORY] = memory;
  let isAsked = false;
  const take = (length: number, octets: Uint8Array): boolean => {
    // A TLS socket gives all records that it has, also when it was paused by the first: the stream holds them.
    if (socket.isPaused() || socket.readableLength > 0) return pushCopy(socket, length, octets);
    onPiece(buffer.piece(length, octets));
    if (inside[CALLBACK] !== take) return true;
    // Node looks closely at memory that it is given: only where it is other than before.
    const isOther = buffer.next() !== octets;
    if (isOther !== isAsked) inside[GENERATOR] = isOther ? next : null;
    isAsked = isOther;
    return true;
  };
  inside[CALLBACK] = take;
  handle.useUserBuffer(memory);
  return true;
}

/** Has what arrives go through the stream again, for whoever takes the socket over. */
export function readAsStream(socket: Socket): void {
  if (CALLBACK === undefined || GENERATOR === undefined) return;
  const inside = socket as unknown as Inside;
  inside[CALLBACK] = (length: number, octets: Uint8Array) => pushCopy(socket, length, octets);
  inside[GENERATOR] = () => PASSING;
}

/** False when the stream holds enough. */
function pushCopy(socket: Socket, length: number, octets: Uint8Array): boolean {
  return socket.push(Buffer.from(octets.subarray(0, length)));
}

function symbolOf(name: string): symbol | undefined {
  return Object.getOwnPropertySymbols(new Socket()).find(({ description }) => description === name);
}

// Sockets that read into memory of ours. `net.connect` has `onread` for that, a server and a TLS socket have no such option.
import { Socket } from 'node:net';
import type { ReadBuffer } from './read-buffer.ts';

/** What `onread` becomes on a socket, in every Node since 12 (its lib/net.js): memory, callback, and who gives other memory. */
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
  inside[CALLBACK] = (length: number, octets: Uint8Array): void => {
    onPiece(buffer.piece(length, octets));
    // Node looks closely at memory that it is given: only where it is other than before.
    const isOther = buffer.next() !== octets;
    if (isOther !== isAsked) inside[GENERATOR] = isOther ? next : null;
    isAsked = isOther;
  };
  handle.useUserBuffer(memory);
  return true;
}

/** Has what arrives go through the stream again, for whoever takes the socket over. */
export function readAsStream(socket: Socket): void {
  if (CALLBACK === undefined || GENERATOR === undefined) return;
  const inside = socket as unknown as Inside;
  inside[CALLBACK] = (length: number, octets: Uint8Array) => socket.push(Buffer.from(octets.subarray(0, length)));
  inside[GENERATOR] = () => PASSING;
}

function symbolOf(name: string): symbol | undefined {
  return Object.getOwnPropertySymbols(new Socket()).find(({ description }) => description === name);
}

// Accepted sockets that read into memory of ours. `net.connect` has `onread` for that, a server has no such option.
import { type OnReadOpts, Socket } from 'node:net';

/** What `onread` becomes on a socket; in every Node since 12 (its lib/net.js). */
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

export interface DirectReads extends OnReadOpts {
  readonly buffer: () => Uint8Array;
}

/**
 * Has what arrives from now on read into memory of ours, as `onread` does; what the stream holds already still comes as
 * `data`. False where this Node cannot: then everything does. Saves a buffer and its way through the stream for each read.
 */
export function readDirectly(socket: Socket, { buffer, callback }: DirectReads): boolean {
  const inside = socket as unknown as Inside;
  const handle = inside._handle;
  if (MEMORY === undefined || CALLBACK === undefined || GENERATOR === undefined) return false;
  if (typeof handle?.useUserBuffer !== 'function') return false;
  const memory = buffer();
  inside[MEMORY] = memory;
  inside[CALLBACK] = callback;
  inside[GENERATOR] = buffer;
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

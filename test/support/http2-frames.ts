// HTTP/2 frames octet by octet (RFC 9113 sections 4 and 6), with header blocks of plain literals.

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** The error codes of RFC 9113 section 7. */
export const CODE = {
  none: 0x0,
  protocol: 0x1,
  internal: 0x2,
  flowControl: 0x3,
  streamClosed: 0x5,
  frameSize: 0x6,
  refused: 0x7,
  cancel: 0x8,
  compression: 0x9,
  calm: 0xb,
} as const;

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxStreams: 3,
  initialWindow: 4,
  maxFrameSize: 5,
  maxHeaderList: 6,
} as const;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export type Fields = readonly (readonly [name: string, value: string])[];

export const GET: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 's'],
];

export const POST: Fields = [[':method', 'POST'], ...GET.slice(1)];

/** `streamId` may have the reserved bit. */
export function frame(type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId >>> 0, 5);
  return Buffer.concat([head, payload]);
}

/** A whole head in one frame; `flags` are added to END_HEADERS. */
export function headers(streamId: number, fields: Fields, flags: number = FLAG.endStream): Buffer {
  return frame(FRAME.headers, FLAG.endHeaders | flags, streamId, block(fields));
}

export function content(streamId: number, octets: string, flags: number = FLAG.endStream): Buffer {
  return frame(FRAME.data, flags, streamId, Buffer.from(octets, 'latin1'));
}

export function settings(...values: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(values.length * 6);
  for (const [at, [id, value]] of values.entries()) {
    payload.writeUInt16BE(id, at * 6);
    payload.writeUInt32BE(value >>> 0, at * 6 + 2);
  }
  return frame(FRAME.settings, 0, 0, payload);
}

export function windowUpdate(streamId: number, by: number): Buffer {
  return frame(FRAME.windowUpdate, 0, streamId, word(by));
}

export function reset(streamId: number, code: number = CODE.cancel): Buffer {
  return frame(FRAME.reset, 0, streamId, word(code));
}

export function ping(octets = '12345678', flags = 0): Buffer {
  return frame(FRAME.ping, flags, 0, Buffer.from(octets));
}

export function word(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value >>> 0);
  return octets;
}

/** A header block whose fields are literals that no table keeps and no code shortens (RFC 7541 section 6.2.2). */
export function block(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** Takes the frames that are whole from the front of `octets`, and gives what is left. */
export function takeFrames(octets: Buffer, into: Frame[]): Buffer {
  let at = 0;
  while (octets.length - at >= 9) {
    const end = at + 9 + octets.readUIntBE(at, 3);
    if (octets.length < end) break;
    into.push({
      type: octets[at + 3] ?? 0,
      flags: octets[at + 4] ?? 0,
      streamId: octets.readUInt32BE(at + 5) & 0x7f_ff_ff_ff,
      payload: octets.subarray(at + 9, end),
    });
    at = end;
  }
  return octets.subarray(at);
}

/** Statuses with an entry of their own in the static table, from entry 8 on. */
const STATIC_STATUSES = [200, 204, 206, 304, 400, 404, 500];

/** The status that a header block begins with; 0 when it begins with something else. */
export function statusOf(octets: Buffer): number {
  let at = 0;
  // An update of the table's size.
  while (((octets[at] ?? 0) & 0xe0) === 0x20) at++;
  const first = octets[at] ?? 0;
  if ((first & 0x80) !== 0) return STATIC_STATUSES[(first & 0x7f) - 8] ?? 0;
  if ((first & 0x3f) !== 8 && (first & 0x0f) !== 8) return 0;
  const length = octets[at + 1] ?? 0;
  const value = octets.subarray(at + 2, at + 2 + (length & 0x7f));
  return Number((length & 0x80) === 0 ? value.toString('latin1') : digits(value));
}

/** Digits in the Huffman code of RFC 7541 appendix B: 0 to 2 have five bits, the others six. */
function digits(octets: Buffer): string {
  let bits = '';
  for (const octet of octets) bits += octet.toString(2).padStart(8, '0');
  let read = '';
  while (bits.length >= 5 && !/^1+$/.test(bits)) {
    const isShort = Number.parseInt(bits.slice(0, 5), 2) <= 2;
    read += isShort ? Number.parseInt(bits.slice(0, 5), 2) : Number.parseInt(bits.slice(0, 6), 2) - 0x16;
    bits = bits.slice(isShort ? 5 : 6);
  }
  return read;
}

function text(given: string): Buffer {
  const octets = Buffer.from(given, 'latin1');
  if (octets.length < 0x7f) return Buffer.concat([Buffer.from([octets.length]), octets]);
  const length = [0x7f];
  let rest = octets.length - 0x7f;
  for (; rest >= 0x80; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...length, rest]), octets]);
}

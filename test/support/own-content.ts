// Contents that cannot be mistaken for each other: no stretch of one is like that of another, or of another place in it.

/** The content of a name that is a number; `bytes` a multiple of four. */
export function contentOf(name: string, bytes: number): Buffer {
  const numbers = new Uint32Array(bytes / 4);
  const seed = Number(name) * 0x9e37_79b1;
  for (let at = 0; at < numbers.length; at++) numbers[at] = Math.imul(seed + at, 0x85eb_ca6b);
  return Buffer.from(numbers.buffer);
}

/** In chunks of many sizes. */
export function chunksOf(content: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, size = 1000; at < content.length; at += size, size = (size * 7) % 300_007) {
    const piece = content.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return [...pieces, Buffer.from('0\r\n\r\n')];
}

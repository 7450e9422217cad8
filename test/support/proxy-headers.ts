// Headers of the PROXY protocol, version 2, put together octet by octet.

export const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

export interface BinaryHeader {
  /** Version and command; PROXY of version 2 by default. */
  readonly command?: number;
  /** Family and transport; TCP over IPv4 by default. */
  readonly family?: number;
  /** Addresses and TLVs. */
  readonly parts?: readonly Buffer[];
  /** The length that is told, in place of the true one. */
  readonly length?: number;
}

export function binaryHeader({ command = 0x21, family = 0x11, parts = [], length }: BinaryHeader): Buffer {
  const rest = Buffer.concat(parts);
  const fixed = Buffer.of(command, family, 0, 0);
  fixed.writeUInt16BE(length ?? rest.length, 2);
  return Buffer.concat([SIGNATURE, fixed, rest]);
}

/** The addresses of a TCP connection over IPv4, from `source` port 4711 to 127.0.0.1 port 80. */
export function ipv4Addresses(source: string): Buffer {
  return Buffer.from([...source.split('.').map(Number), 127, 0, 0, 1, 0x12, 0x67, 0, 80]);
}

/** The addresses of a TCP connection over IPv6, from `source` (its 32 hexadecimal digits) to `::1`. */
export function ipv6Addresses(source: string): Buffer {
  return Buffer.concat([Buffer.from(source, 'hex'), Buffer.alloc(15), Buffer.of(1, 0x12, 0x67, 0, 80)]);
}

export function furtherPart(type: number, value: Buffer): Buffer {
  const head = Buffer.of(type, 0, 0);
  head.writeUInt16BE(value.length, 1);
  return Buffer.concat([head, value]);
}

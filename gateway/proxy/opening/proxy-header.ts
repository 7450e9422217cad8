// The header of the PROXY protocol, versions 1 and 2 (HAProxy's proxy-protocol.txt): octets in, the client's address out.
import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { unmapped } from '../../core/networks.ts';
import { beginsAlike } from './begins-alike.ts';
import { crc32c } from './crc32c.ts';

/** A header that is whole. */
export interface ProxyHeader {
  /** How many octets it has; what follows is the client's. */
  readonly lengthBytes: number;
  /** The address of the client; null where there is none but the peer's own: LOCAL, UNKNOWN, UNSPEC, UNIX sockets. */
  readonly source: string | null;
}

/** `unfinished` may still become a header with further octets, `malformed` never does. */
export type ProxyHeaderReading = ProxyHeader | 'unfinished' | 'malformed';

const TEXT_START = Buffer.from('PROXY ');
/** With the line end; the longest line that the protocol knows. */
const MAX_TEXT_BYTES = 107;
const CR = 0x0d;
const LF = 0x0a;

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const FIXED_BYTES = 16;
/** Of addresses and TLVs; senders fill some hundred. */
const MAX_VARIABLE_BYTES = 4096;

const LOCAL = 0x20;
const PROXY = 0x21;

/** Octets of the addresses by family and transport; a datagram cannot have brought a connection. */
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([
  [0x11, 12],
  [0x21, 36],
  [0x31, 216],
]);
const UNSPECIFIED = 0x00;
const TCP4 = 0x11;
const TCP6 = 0x21;

const TLV_HEAD_BYTES = 3;
const CHECKSUM_TYPE = 0x03;

/**
 * Reads the header that the octets begin with. It is malformed as soon as it cannot become good any more, and whole only
 * with its last octet, however the octets came. A checksum is looked at where there is one.
 */
export function readProxyHeader(octets: Buffer): ProxyHeaderReading {
  if (octets.length === 0) return 'unfinished';
  return octets[0] === CR ? readBinary(octets) : readText(octets);
}

function readText(octets: Buffer): ProxyHeaderReading {
  if (!beginsAlike(octets, TEXT_START)) return 'malformed';
  const end = octets.indexOf(CR);
  const feed = octets.indexOf(LF);
  if (end === -1 || end === octets.length - 1) {
    const isTooLong = octets.length >= MAX_TEXT_BYTES;
    return feed !== -1 || isTooLong ? 'malformed' : 'unfinished';
  }
  if (feed !== end + 1 || feed >= MAX_TEXT_BYTES) return 'malformed';
  const source = sourceOf(octets.toString('latin1', TEXT_START.length, end));
  return source === undefined ? 'malformed' : { lengthBytes: feed + 1, source };
}

/** The source of a line without its start and end; undefined when it breaks the protocol. */
function sourceOf(line: string): string | null | undefined {
  const [family = '', source = '', destination = '', ...ports] = line.split(' ');
  if (family === 'UNKNOWN') return null;
  if (family !== 'TCP4' && family !== 'TCP6') return undefined;
  const isAddress = family === 'TCP4' ? isIPv4 : isPlainIPv6;
  const isWhole = isAddress(source) && isAddress(destination) && ports.length === 2 && ports.every(isPort);
  return isWhole ? canonical(source, family === 'TCP4' ? 'ipv4' : 'ipv6') : undefined;
}

function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
}

/** As a socket would give it: limits and hashes take one client for one. */
function canonical(address: string, family: 'ipv4' | 'ipv6'): string {
  return unmapped(new SocketAddress({ address, family }).address);
}

function readBinary(octets: Buffer): ProxyHeaderReading {
  if (!beginsAlike(octets, SIGNATURE)) return 'malformed';
  if (octets.length <= SIGNATURE.length) return 'unfinished';
  const command = octets[SIGNATURE.length] ?? 0;
  if (command !== LOCAL && command !== PROXY) return 'malformed';
  if (octets.length < FIXED_BYTES) return 'unfinished';
  const family = octets[13] ?? 0;
  const variableBytes = octets.readUInt16BE(14);
  // What the family of a LOCAL header says counts for nothing.
  const isUnsaid = command === LOCAL || family === UNSPECIFIED;
  const addressBytes = isUnsaid ? 0 : (ADDRESS_BYTES.get(family) ?? MAX_VARIABLE_BYTES + 1);
  if (variableBytes > MAX_VARIABLE_BYTES || variableBytes < addressBytes) return 'malformed';
  const lengthBytes = FIXED_BYTES + variableBytes;
  if (octets.length < lengthBytes) return 'unfinished';
  if (isUnsaid) return { lengthBytes, source: null };
  const header = octets.subarray(0, lengthBytes);
  if (!hasGoodFurtherParts(header, FIXED_BYTES + addressBytes)) return 'malformed';
  return { lengthBytes, source: sourceIn(header, family) };
}

function sourceIn(header: Buffer, family: number): string | null {
  if (family === TCP4) return header.subarray(FIXED_BYTES, FIXED_BYTES + 4).join('.');
  if (family !== TCP6) return null;
  const groups = Array.from({ length: 8 }, (_, at) => header.readUInt16BE(FIXED_BYTES + 2 * at).toString(16));
  return canonical(groups.join(':'), 'ipv6');
}

/** Whether the TLVs from `start` on fill the header exactly, and a checksum among them is the header's. */
function hasGoodFurtherParts(header: Buffer, start: number): boolean {
  let at = start;
  while (at < header.length) {
    if (header.length - at < TLV_HEAD_BYTES) return false;
    const valueAt = at + TLV_HEAD_BYTES;
    const end = valueAt + header.readUInt16BE(at + 1);
    if (end > header.length) return false;
    if (header[at] === CHECKSUM_TYPE && (end - valueAt !== 4 || !isChecksumOf(header, valueAt))) return false;
    at = end;
  }
  return true;
}

/** Whether the checksum at this place is that of the header, in which it counts as zero itself. */
function isChecksumOf(header: Buffer, at: number): boolean {
  const summed = Buffer.from(header);
  summed.writeUInt32BE(0, at);
  return crc32c(summed) === header.readUInt32BE(at);
}

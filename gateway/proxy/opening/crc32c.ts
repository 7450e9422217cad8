// CRC32c, the checksum of SCTP (RFC 9260 appendix A), which headers of the PROXY protocol may carry.

/** The Castagnoli polynomial, its bits in reverse. */
const POLYNOMIAL = 0x82f63b78;

const TABLE = Uint32Array.from({ length: 256 }, (_, octet) => {
  let rest = octet;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ POLYNOMIAL;
  return rest;
});

/** The checksum of all octets, as an unsigned number of 32 bits. */
export function crc32c(octets: Uint8Array): number {
  let sum = 0xff_ff_ff_ff;
  for (const octet of octets) sum = (TABLE[(sum ^ octet) & 0xff] ?? 0) ^ (sum >>> 8);
  return ~sum >>> 0;
}

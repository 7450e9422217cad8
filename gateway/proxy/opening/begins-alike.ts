// Compares the octets that a connection begins with, as far as they have come, with what is looked for.

/** Whether the octets begin with what is wanted, or may still when there are more of them. */
export function beginsAlike(octets: Buffer, wanted: Buffer): boolean {
  const length = Math.min(octets.length, wanted.length);
  return octets.compare(wanted, 0, length, 0, length) === 0;
}

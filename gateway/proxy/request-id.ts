// The request id: kept from a trusted peer if it is plain, else made.
import { randomFillSync } from 'node:crypto';

const PLAIN = /^[A-Za-z0-9._:+/=-]{1,128}$/;

/** Few: a tunnel keeps its id, and with it the text of the batch, as long as it lives. */
const BATCH = 32;
const OCTETS = 16;
const LENGTH = 36;
/** Random octets come from the system's generator, which costs the same for few as for many. */
const random = new Uint8Array(BATCH * OCTETS * 8);
const HEX = Buffer.from('0123456789abcdef');
const DASH = 0x2d;

const letters = Buffer.alloc(BATCH * LENGTH);
let randomAt = random.length;
let batch = '';
let at = BATCH;

/** `received` is the X-Request-Id field of the request. */
export function requestIdOf(received: string | undefined, isTrusted: boolean): string {
  return isTrusted && received !== undefined && PLAIN.test(received) ? received : nextUuid();
}

/**
 * A random UUID (RFC 9562 version 4), a place in a text of many. `crypto.randomUUID` puts each together of twenty pieces:
 * 600 octets of garbage and 3 % of the work of a small request.
 */
function nextUuid(): string {
  if (at === BATCH) makeBatch();
  const start = LENGTH * at++;
  return batch.substring(start, start + LENGTH);
}

function makeBatch(): void {
  if (randomAt === random.length) {
    randomFillSync(random);
    randomAt = 0;
  }
  let end = 0;
  for (let id = 0; id < BATCH; id++) {
    for (let place = 0; place < OCTETS; place++) {
      if (place === 4 || place === 6 || place === 8 || place === 10) letters[end++] = DASH;
      const value = fixed(random[randomAt++] ?? 0, place);
      letters[end++] = HEX[value >> 4] ?? 0;
      letters[end++] = HEX[value & 0x0f] ?? 0;
    }
  }
  batch = letters.toString('latin1');
  at = 0;
}

/** The octet with the bits of version 4 and of the variant in their places. */
function fixed(value: number, place: number): number {
  if (place === 6) return (value & 0x0f) | 0x40;
  if (place === 8) return (value & 0x3f) | 0x80;
  return value;
}

// Content whose end the stream tells, not the octets; and trailers as they come on a stream.
import type { DecodedContent } from '../../http1/chunked-decoder.ts';
import { FieldTable } from '../../http1/field-table.ts';
import type { ContentSource } from '../front/request-content.ts';

const MAX_TRAILER_FIELDS = 64;

/** Content of no announced length: it is whole when `end` was called. */
export class StreamContent implements ContentSource {
  isWhole = false;
  trailers: FieldTable | undefined;

  feed(piece: Buffer, start: number, into: DecodedContent): number {
    if (piece.length > start) into.onContent(start === 0 ? piece : piece.subarray(start));
    return piece.length;
  }

  /** The client has ended its side. */
  end(): void {
    this.isWhole = true;
  }
}

/** A trailer section from its names and values; null when it is malformed, or has more fields than anybody needs. */
export function readTrailers(list: readonly string[]): FieldTable | null {
  let text = '';
  for (let at = 0; at < list.length; at += 2) text += `${list[at]}: ${list[at + 1]}\r\n`;
  const fields = new FieldTable(MAX_TRAILER_FIELDS);
  const isGood = fields.parse(text, 0, text.length) === null && fields.count === list.length / 2;
  return isGood ? fields : null;
}

// Requests whose answers may be compressed: the octets as they came, and what they mean.
import { type IncomingHttpHeaders, request } from 'node:http';
import { createBrotliDecompress, createGunzip, createZstdDecompress, type Gunzip } from 'node:zlib';

export interface EncodedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: Readonly<Record<string, string | undefined>>;
  /** As they came, without the framing. */
  readonly octets: Buffer;
  /** Whether the answer came to its end. */
  readonly isComplete: boolean;
}

/** Resolves with what came, also of an answer that broke off; rejects when there was no head. */
export function fetchOctets(
  port: number,
  {
    path = '/',
    method = 'GET',
    headers = {},
  }: { path?: string; method?: string; headers?: Record<string, string> } = {},
): Promise<EncodedAnswer> {
  return new Promise((resolve, reject) => {
    const call = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', () => undefined);
      response.on('close', () => {
        const { statusCode: status = 0, headers: its, trailers, complete } = response;
        resolve({ status, headers: its, trailers, octets: Buffer.concat(pieces), isComplete: complete });
      });
    });
    call.on('error', reject);
    call.end();
  });
}

/** What decodes a content coding piece by piece. */
export function decoderOf(coding: string | undefined): Gunzip {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    default:
      throw new Error(`no such coding: ${coding}`);
  }
}

/** The content that the octets stand for; rejects when they are not whole. */
export function decoded(octets: Buffer, coding: string | undefined): Promise<Buffer> {
  const decoder = decoderOf(coding);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    decoder.on('data', (piece: Buffer) => pieces.push(piece));
    decoder.on('error', reject);
    decoder.on('end', () => resolve(Buffer.concat(pieces)));
    decoder.end(octets);
  });
}

/** Text of that many octets that gets shorter by compression, but not to nothing. */
export function proseOf(bytes: number): string {
  let text = '';
  for (let line = 0; text.length < bytes; line++) text += `${line}: item ${(line * 7919) % 10_007} of ${line % 13}\n`;
  return text.slice(0, bytes);
}

// The body of an incoming request as text, up to a bound.
import type { IncomingMessage } from 'node:http';

export type BodyResult =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'not_utf8' }
  | { readonly kind: 'broken_off' };

/** Reads the whole body, but no more than `maxBytes` of it. Never rejects. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyResult> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (!Buffer.isBuffer(chunk)) continue;
      bytes += chunk.length;
      if (bytes > maxBytes) return { kind: 'too_large' };
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'broken_off' };
  }
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return { kind: 'not_utf8' };
  }
}

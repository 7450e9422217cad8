// A service for clients of the HTTP/2 front: it echoes, holds answers back, and tells what it has received.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type LocalServer, startHttpServer } from './local-server.ts';

export interface FrontService extends LocalServer {
  /** Requests for /held that have no answer yet. */
  readonly held: ServerResponse[];
  /** How many of them were given up. */
  readonly given: { up: number };
  /** Answers all that are held. */
  release(): void;
}

const IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';

/** Octets that repeat nowhere nearby. */
export function distinctOctets(bytes: number): Buffer {
  const octets = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) octets.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return octets;
}

export function digestOf(octets: Buffer): string {
  return createHash('sha256').update(octets).digest('hex');
}

/**
 * `/echo` sends back what comes as it comes, `/digest` the SHA-256 of it, `/octets?N` N octets, `/trailers` a trailer with
 * those of the request, `/fields` the fields as JSON, `/page?N` a page that draws N images, fetches N texts and says in its
 * title when it has them all; `/held` waits; all else is `ok`.
 */
export async function startFrontService(): Promise<FrontService> {
  const held: ServerResponse[] = [];
  const given = { up: 0 };
  const made = new Map<number, Buffer>();
  const octetsOf = (bytes: number): Buffer => {
    const octets = made.get(bytes) ?? distinctOctets(bytes);
    made.set(bytes, octets);
    return octets;
  };
  const server = await startHttpServer((request, response) => {
    const [path = '', query = ''] = request.url?.split('?') ?? [];
    if (path === '/held') hold(response);
    else if (path === '/octets') response.end(octetsOf(Number(query)));
    else if (path === '/page') response.setHeader('Content-Type', 'text/html').end(page(Number(query)));
    else if (path === '/image') response.setHeader('Content-Type', 'image/svg+xml').end(IMAGE);
    else void answer(path, request, response).catch(() => response.destroy());
  });
  const hold = (response: ServerResponse): void => {
    held.push(response);
    response.on('close', () => {
      if (!response.writableFinished) given.up++;
    });
  };
  return {
    ...server,
    held,
    given,
    release: () => {
      for (const response of held.splice(0)) response.end('at last');
    },
  };
}

function page(count: number): string {
  const images = Array.from({ length: count }, (_, at) => `<img src="/image?${at}" width="9" height="9" alt="">`);
  const fetches = `Array.from({ length: ${count} }, async (_, at) => (await fetch('/fetched?' + at)).text())`;
  const script = `Promise.all(${fetches}).then((texts) => { document.title = texts.join(' '); });`;
  return `<!doctype html><title></title><link rel="icon" href="data:,"><body>${images.join('')}<script>${script}</script>`;
}

async function answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (path === '/echo') {
    response.flushHeaders();
    await pipeline(request, response);
    return;
  }
  const hash = createHash('sha256');
  for await (const piece of request) hash.update(piece);
  if (path === '/digest') response.end(hash.digest('hex'));
  else if (path === '/fields') response.end(JSON.stringify(request.headers));
  else if (path === '/trailers') {
    response.writeHead(200, { Trailer: 'x-checked' });
    response.write('content');
    response.addTrailers({ 'x-checked': String(request.trailers['x-sum'] ?? 'none') });
    response.end();
  } else response.end('ok');
}

// Long-lived streams through a gateway, each of which notices when an octet is lost: WebSocket, events, download.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { type LocalServer, startHttpServer } from './local-server.ts';

/** Octets of the download: more than all buffers on the way hold together. */
const DOWNLOAD_BYTES = 24 * 1024 * 1024;
const EVENT_EVERY_MS = 10;

/** A service that echoes on WebSockets, sends numbered events, and has something large to download; it says its name. */
export interface StreamService extends LocalServer {
  /** Ends the streams of events after the next one. */
  endEvents(): void;
}

export async function startStreamService(name: string): Promise<StreamService> {
  let isOver = false;
  const server = await startHttpServer(
    (message, response) => {
      response.setHeader('X-Instance', name);
      if (message.url?.endsWith('/events') === true) sendEvents(response, () => isOver);
      else if (message.url?.endsWith('/download') === true) response.end(downloadContent());
      else response.end(name);
    },
    (http) => {
      new WebSocketServer({ server: http }).on('connection', (socket) => {
        socket.on('message', (content) => socket.send(content));
      });
    },
  );
  return {
    ...server,
    endEvents: () => {
      isOver = true;
    },
  };
}

/** One of each kind, open. */
export interface LongStreams {
  /** Sends a message through the tunnel and waits for its echo; reads on in the download. */
  step(): Promise<void>;
  /** Whether all of them are still open. */
  areOpen(): boolean;
  /** Reads all to their ends; gives what is wrong, nothing when all is well. The events must end by themselves. */
  finish(): Promise<string[]>;
  close(): void;
}

/** Opens the streams under `path`, like `/s1`. */
export async function openStreams(port: number, path: string): Promise<LongStreams> {
  const tunnel = new WebSocket(`ws://127.0.0.1:${port}${path}/chat`);
  await once(tunnel, 'open');
  return new Streams(tunnel, await get(port, `${path}/events`), await get(port, `${path}/download`));
}

class Streams implements LongStreams {
  readonly #tunnel: WebSocket;
  readonly #events: IncomingMessage;
  readonly #download: IncomingMessage;
  readonly #hash = createHash('sha256');
  #downloaded = 0;
  #eventText = '';
  #messages = 0;
  readonly #broken: string[] = [];

  constructor(tunnel: WebSocket, events: IncomingMessage, download: IncomingMessage) {
    this.#tunnel = tunnel;
    this.#events = events;
    this.#download = download;
    tunnel.on('error', (error) => this.#broken.push(`tunnel: ${error.message}`));
    tunnel.on('close', () => this.#broken.push('tunnel: closed'));
    events.setEncoding('utf8').on('data', (text: string) => {
      this.#eventText += text;
    });
    events.on('error', (error) => this.#broken.push(`events: ${error.message}`));
    download.on('error', (error) => this.#broken.push(`download: ${error.message}`));
    download.pause();
  }

  async step(): Promise<void> {
    const message = `message ${this.#messages++}`;
    const echoed = once(this.#tunnel, 'message');
    this.#tunnel.send(message);
    const [echo] = await echoed;
    if (String(echo) !== message) this.#broken.push(`tunnel: ${echo} in place of ${message}`);
    this.#take(this.#download.read());
  }

  areOpen(): boolean {
    return this.#broken.length === 0 && !this.#events.readableEnded && !this.#download.readableEnded;
  }

  async finish(): Promise<string[]> {
    const problems = [...this.#broken];
    if (!this.#events.readableEnded && !this.#events.destroyed) await once(this.#events, 'close');
    for await (const piece of this.#download) this.#take(piece);
    if (this.#downloaded !== DOWNLOAD_BYTES || this.#hash.digest('hex') !== digestOf(downloadContent())) {
      problems.push(`download: ${this.#downloaded} octets, or others than were sent`);
    }
    const ids = [...this.#eventText.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    if (!this.#eventText.endsWith('data: end\n\n')) problems.push('events: no end');
    if (!ids.every((id, at) => id === at)) problems.push(`events: not in order: ${ids}`);
    return problems;
  }

  close(): void {
    this.#tunnel.terminate();
    this.#events.destroy();
    this.#download.destroy();
  }

  #take(piece: unknown): void {
    if (!Buffer.isBuffer(piece)) return;
    this.#downloaded += piece.length;
    this.#hash.update(piece);
  }
}

function sendEvents(response: ServerResponse, isOver: () => boolean): void {
  let id = 0;
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const timer = setInterval(() => {
    const isLast = isOver();
    response.write(`id: ${id++}\ndata: ${isLast ? 'end' : 'on'}\n\n`);
    if (!isLast) return;
    clearInterval(timer);
    response.end();
  }, EVENT_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

let content: Buffer | undefined;

/** Octets that repeat nowhere nearby. */
function downloadContent(): Buffer {
  if (content !== undefined) return content;
  content = Buffer.alloc(DOWNLOAD_BYTES);
  for (let at = 0; at < DOWNLOAD_BYTES; at += 4) content.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return content;
}

function digestOf(octets: Buffer): string {
  return createHash('sha256').update(octets).digest('hex');
}

function get(port: number, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path, agent: false }, resolve).on('error', reject).end();
  });
}

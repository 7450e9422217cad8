// Reads streams of messages with Node's own server and client, to compare with what the codec reads.
import { type ClientRequest, createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

export interface NodeMessage {
  /** Method, target and version, or version, status and reason. */
  readonly line: string;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  readonly content: string;
  readonly trailers: readonly string[];
  readonly isComplete: boolean;
}

export interface NodeReading {
  readonly messages: readonly NodeMessage[];
  /** The code of the parser's error, or what else went wrong. */
  readonly error: string | null;
  /** How many messages were complete behind each piece. */
  readonly completeAfter: readonly number[];
}

/** Above all limits of ours, so that Node never refuses for size alone. */
const MAX_HEADER_BYTES = 1_048_576;

interface Seen {
  readonly message: IncomingMessage | null;
  readonly line: string;
  readonly fields: readonly string[];
  readonly pieces: Buffer[];
}

type StatusParts = Pick<IncomingMessage, 'httpVersion'> & {
  statusCode?: number | undefined;
  statusMessage?: string | undefined;
};

/** What is seen of the stream that is being read. */
interface Session {
  readonly seen: Seen[];
  error: string | null;
}

/** Reads request streams, one at a time, with one `http.Server` that listens nowhere. */
export class NodeRequestReader {
  readonly #server: Server;
  #session: Session = { seen: [], error: null };

  constructor() {
    const options = { insecureHTTPParser: false, maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: true };
    this.#server = createServer(options);
    this.#server.maxHeadersCount = 0;
    const onRequest = (message: IncomingMessage) => {
      this.#session.seen.push(seenRequest(message));
    };
    // With these two, Node's answers to an Expect field do not stand in the way.
    for (const event of ['request', 'checkContinue', 'checkExpectation']) this.#server.on(event, onRequest);
    this.#server.on('connect', (message: IncomingMessage, socket: Socket) => {
      this.#session.seen.push({ message, line: requestLine(message), fields: message.rawHeaders, pieces: [] });
      socket.destroy();
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      this.#session.error ??= error.code ?? error.message;
      socket.destroy();
    });
  }

  async read(pieces: readonly Buffer[]): Promise<NodeReading> {
    const session: Session = { seen: [], error: null };
    this.#session = session;
    const wire = createWire();
    this.#server.emit('connection', wire);
    // The server listens to the wire from the next turn on; from then on it reads a piece while it is pushed.
    await turn();
    const completeAfter = feed(wire, pieces, session);
    await turn();
    const reading = readingOf(session, completeAfter);
    wire.destroy();
    await turn();
    return reading;
  }
}

/** Reads the answer to a request with `method` by Node's client; the connection ends behind the last piece. */
export async function readResponseWithNode(pieces: readonly Buffer[], method: string): Promise<NodeReading> {
  const session: Session = { seen: [], error: null };
  const wire = createWire();
  const call = request({
    createConnection: () => wire,
    method,
    insecureHTTPParser: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  watch(call, session);
  call.end();
  await turn();
  const completeAfter = feed(wire, pieces, session);
  await turn();
  if (!wire.destroyed) wire.push(null);
  await turn();
  const reading = readingOf(session, completeAfter);
  call.destroy();
  wire.destroy();
  await turn();
  return reading;
}

function watch(call: ClientRequest, session: Session): void {
  const onError = (error: NodeJS.ErrnoException): void => {
    session.error ??= error.code ?? error.message;
  };
  call.maxHeadersCount = 0;
  call.on('information', (message) => {
    session.seen.push({ message: null, line: statusLine(message), fields: message.rawHeaders, pieces: [] });
  });
  call.on('response', (message) => {
    message.on('error', onError);
    session.seen.push(seenMessage(message, statusLine(message)));
  });
  call.on('upgrade', (message, socket) => {
    session.seen.push({ message, line: statusLine(message), fields: message.rawHeaders, pieces: [] });
    socket.destroy();
  });
  call.on('error', onError);
}

/** Pushes the pieces, each of which is parsed before the next. */
function feed(wire: Duplex, pieces: readonly Buffer[], session: Session): number[] {
  return pieces.map((piece) => {
    if (piece.length > 0 && !wire.destroyed) wire.push(piece);
    return session.seen.filter(isComplete).length;
  });
}

function seenRequest(message: IncomingMessage): Seen {
  return seenMessage(message, requestLine(message));
}

function requestLine({ method, url, httpVersion }: IncomingMessage): string {
  return `${method} ${url} ${httpVersion}`;
}

function statusLine({ httpVersion, statusCode, statusMessage }: StatusParts): string {
  return `${httpVersion} ${statusCode} ${statusMessage}`;
}

function seenMessage(message: IncomingMessage, line: string): Seen {
  const pieces: Buffer[] = [];
  message.on('data', (piece: Buffer) => pieces.push(piece));
  // Ends with the wire when it is not complete.
  message.on('error', () => undefined);
  return { message, line, fields: message.rawHeaders, pieces };
}

function readingOf({ seen, error }: Session, completeAfter: readonly number[]): NodeReading {
  return { messages: seen.map(nodeMessage), error, completeAfter };
}

/** An interim response is whole when it is seen. */
function isComplete({ message }: Seen): boolean {
  return message === null || message.complete;
}

function nodeMessage(seen: Seen): NodeMessage {
  const { message, line, fields, pieces } = seen;
  const trailers = message?.rawTrailers ?? [];
  return { line, fields, content: Buffer.concat(pieces).toString('latin1'), trailers, isComplete: isComplete(seen) };
}

function createWire(): Duplex {
  const wire = new Duplex({
    read: () => undefined,
    write: (_octets, _encoding, done) => done(),
  });
  wire.on('error', () => undefined);
  return wire;
}

// A gRPC service of the four kinds of call on a free port, and its client: both are grpc-js, with JSON for messages.
import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import type { SignedPair } from './certificates.ts';

export interface Message {
  readonly text: string;
}

export interface EchoHandlers {
  readonly unary?: handleUnaryCall<Message, Message>;
  readonly collect?: handleClientStreamingCall<Message, Message>;
  readonly spread?: handleServerStreamingCall<Message, Message>;
  readonly chat?: handleBidiStreamingCall<Message, Message>;
}

export interface EchoService {
  readonly port: number;
  /** Cuts every call. */
  stop(): void;
}

const serialize = (message: Message): Buffer => Buffer.from(JSON.stringify(message));

function deserialize(octets: Buffer): Message {
  const parsed: unknown = JSON.parse(octets.toString());
  if (typeof parsed !== 'object' || parsed === null || !('text' in parsed)) throw new Error('no message');
  return { text: String(parsed.text) };
}

function method(name: string, requestStream: boolean, responseStream: boolean): MethodDefinition<Message, Message> {
  const codec = { requestSerialize: serialize, requestDeserialize: deserialize };
  const answers = { responseSerialize: serialize, responseDeserialize: deserialize };
  return { path: `/weir.test.Echo/${name}`, requestStream, responseStream, ...codec, ...answers };
}

const UNARY = method('Unary', false, false);
const COLLECT = method('Collect', true, false);
const SPREAD = method('Spread', false, true);
const CHAT = method('Chat', true, true);

/** Without a handler of its own a method is UNIMPLEMENTED; with a pair it is served over TLS. */
export async function startEcho(
  handlers: EchoHandlers,
  port = 0,
  pair?: Pick<SignedPair, 'cert' | 'key'>,
): Promise<EchoService> {
  const identity =
    pair === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(pair.cert), private_key: Buffer.from(pair.key) }]);
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  server.addService({ unary: UNARY, collect: COLLECT, spread: SPREAD, chat: CHAT }, { ...handlers });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, identity, (error, its) => {
      if (error === null) resolve(its);
      else reject(error);
    });
  });
  return { port: bound, stop: () => server.forceShutdown() };
}

/** How a call ended, and what it brought. */
export interface CallEnd {
  readonly code: number;
  readonly details: string;
  readonly messages: readonly string[];
  /** Metadata before the first message, and behind the last. */
  readonly initial: Metadata;
  readonly trailing: Metadata;
}

export interface CallOptions {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly deadlineMs?: number;
}

export class EchoClient {
  readonly #client: Client;

  /** With an authority the service is spoken to over TLS. */
  constructor(port: number, ca?: string) {
    const trust = ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca));
    this.#client = new Client(`127.0.0.1:${port}`, trust, {
      'grpc.max_receive_message_length': -1,
      'grpc.enable_retries': 0,
      // It cannot do with an address in place of a name.
      ...(ca !== undefined && { 'grpc.ssl_target_name_override': 'localhost' }),
    });
  }

  close(): void {
    this.#client.close();
  }

  unary(text: string, options: CallOptions = {}): Promise<CallEnd> {
    const { path, requestSerialize, responseDeserialize } = UNARY;
    return new Promise((resolve) => {
      const end = new Ending(resolve);
      const [metadata, extra] = [metadataOf(options), deadlineOf(options)];
      this.#client
        .makeUnaryRequest(path, requestSerialize, responseDeserialize, { text }, metadata, extra, end.answer)
        .on('metadata', end.initial)
        .on('status', end.status);
    });
  }

  collect(texts: readonly string[], options: CallOptions = {}): Promise<CallEnd> {
    const { path, requestSerialize, responseDeserialize } = COLLECT;
    return new Promise((resolve) => {
      const end = new Ending(resolve);
      const [metadata, extra] = [metadataOf(options), deadlineOf(options)];
      const call = this.#client
        .makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, extra, end.answer)
        .on('metadata', end.initial)
        .on('status', end.status);
      for (const text of texts) call.write({ text });
      call.end();
    });
  }

  spread(text: string, options: CallOptions = {}): { call: ClientReadableStream<Message>; end: Promise<CallEnd> } {
    const { path, requestSerialize, responseDeserialize } = SPREAD;
    const [metadata, extra] = [metadataOf(options), deadlineOf(options)];
    const call = this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      { text },
      metadata,
      extra,
    );
    return { call, end: new Promise((resolve) => new Ending(resolve).follow(call)) };
  }

  chat(options: CallOptions = {}): { call: ClientDuplexStream<Message, Message>; end: Promise<CallEnd> } {
    const { path, requestSerialize, responseDeserialize } = CHAT;
    const [metadata, extra] = [metadataOf(options), deadlineOf(options)];
    const call = this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata, extra);
    return { call, end: new Promise((resolve) => new Ending(resolve).follow(call)) };
  }
}

/** Gathers what a call brings until its status is there. */
class Ending {
  readonly #resolve: (end: CallEnd) => void;
  readonly #messages: string[] = [];
  #initial = new Metadata();

  constructor(resolve: (end: CallEnd) => void) {
    this.#resolve = resolve;
  }

  follow(call: ClientReadableStream<Message>): void {
    call.on('data', ({ text }: Message) => this.#messages.push(text));
    call.on('error', () => undefined);
    call.on('metadata', this.initial);
    call.on('status', this.status);
  }

  readonly initial = (metadata: Metadata): void => {
    this.#initial = metadata;
  };

  readonly answer = (_error: ServiceError | null, message?: Message): void => {
    if (message !== undefined) this.#messages.push(message.text);
  };

  readonly status = ({ code, details, metadata }: StatusObject): void => {
    // The answer of a unary call is told after its status.
    setImmediate(() => {
      const messages = this.#messages;
      this.#resolve({ code, details, messages, initial: this.#initial, trailing: metadata });
    });
  };
}

function metadataOf({ metadata = {} }: CallOptions): Metadata {
  const made = new Metadata();
  for (const [name, value] of Object.entries(metadata)) made.set(name, value);
  return made;
}

function deadlineOf({ deadlineMs }: CallOptions): { deadline?: number } {
  return deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
}

// One connection to an endpoint: an undici client that carries one request at a time.
import { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, errors } from 'undici';

/** Who keeps the connection between two requests. */
export interface ConnectionKeeper {
  /** The endpoint closed it, or the time for which it is kept is over. */
  disconnected(connection: EndpointConnection): void;
  /** It is free for another request. */
  released(connection: EndpointConnection): void;
}

/** How an endpoint is reached. */
export interface ConnectionWay {
  readonly origin: string;
  /** Has no timeout of its own: that of undici may come a second late. */
  readonly connect: buildConnector.connector;
  readonly timeoutMs: number;
}

export class EndpointConnection {
  readonly #client: Client;
  readonly #way: ConnectionWay;
  readonly #keeper: ConnectionKeeper;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Requests that were answered since the connection was made. */
  #served = 0;

  constructor(way: ConnectionWay, keeper: ConnectionKeeper) {
    this.#way = way;
    this.#keeper = keeper;
    this.#client = new Client(way.origin, {
      pipelining: 1,
      allowH2: false,
      connect: (options, callback) => this.#connect(options, callback),
    });
    this.#client.on('connect', () => {
      this.#served = 0;
      this.#connectEnded();
    });
    this.#client.on('connectionError', () => this.#connectEnded());
    this.#client.on('disconnect', () => keeper.disconnected(this));
  }

  /** Whether it has served a request before. */
  get isKept(): boolean {
    return this.#served > 0;
  }

  send(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** The request was answered in full. */
  release(): void {
    this.#served++;
    this.#keeper.released(this);
  }

  /** Closes it, whatever is under way; a socket that was upgraded is no longer its own. */
  destroy(): void {
    this.#socket?.destroy(new Error('the connection is not needed any more'));
    this.#connectEnded();
    void this.#client.destroy();
  }

  #connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
    const { origin, connect, timeoutMs } = this.#way;
    // undici's types hide it: only by its socket can a connection be given up before it stands.
    const socket: unknown = connect(options, callback);
    if (!(socket instanceof Socket)) return;
    this.#socket = socket;
    const late = new errors.ConnectTimeoutError(`no connection to ${origin} within ${timeoutMs} ms`);
    this.#timer = setTimeout(() => socket.destroy(late), timeoutMs);
  }

  #connectEnded(): void {
    clearTimeout(this.#timer);
    this.#socket = undefined;
  }
}

// One attempt of a request over one connection: hears what undici says, until it is over.
import type { Duplex } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import type { EndpointConnection } from './endpoint-connection.ts';

type Controller = Dispatcher.DispatchController;
type Handler = Required<Dispatcher.DispatchHandler>;
/** Header fields or trailers, by their lower-case names. */
export type AnswerFields = Parameters<Handler['onResponseStart']>[2];

/** A response head, or an interim one. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: AnswerFields;
  readonly statusText: string | undefined;
  readonly rawHeaders: Controller['rawHeaders'];
}

/** What the attempt tells; after `onEnd`, `onUpgrade` or `onFailure` nothing more. */
export interface AttemptEvents {
  onInterim(head: AnswerHead): void;
  onHead(head: AnswerHead): void;
  onContent(octets: Buffer): void;
  onEnd(trailers: AnswerFields, rawTrailers: Controller['rawTrailers']): void;
  onUpgrade(head: AnswerHead, socket: Duplex): void;
  onFailure(error: Error): void;
  onBodySent(octets: Buffer): void;
  onRequestSent(): void;
  onResponseStarted(): void;
}

export class Attempt implements Dispatcher.DispatchHandler {
  readonly #connection: EndpointConnection;
  readonly #events: AttemptEvents;
  #controller: Controller | undefined;
  #responseTimer: NodeJS.Timeout | undefined;
  #responseMs = 0;
  #isKept = false;
  #hasBegun = false;
  #hasHead = false;
  #isOver = false;

  constructor(connection: EndpointConnection, events: AttemptEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /** Whether a byte of the request may have reached the endpoint. */
  get isSent(): boolean {
    return this.#controller !== undefined;
  }

  /** Whether it went over a connection that had served a request before, and not a byte has come back. */
  get isStale(): boolean {
    return this.#isKept && !this.#hasBegun;
  }

  /** `headersTimeout` counts from the sent request, to the millisecond; before that undici sees to it, within a second. */
  start(options: Dispatcher.DispatchOptions): void {
    this.#responseMs = options.headersTimeout ?? 0;
    this.#connection.send(options, this);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  /** Gives the attempt up and closes its connection; nothing is told after this. */
  abort(reason: Error): void {
    if (!this.#end()) return;
    this.#controller?.abort(reason);
    this.#connection.destroy();
  }

  onRequestStart(controller: Controller): void {
    this.#isKept = this.#connection.isKept;
    this.#controller = controller;
  }

  onBodySent(octets: Buffer): void {
    if (!this.#isOver) this.#events.onBodySent(octets);
  }

  onRequestSent(): void {
    if (this.#isOver) return;
    if (this.#responseMs > 0 && !this.#hasHead) {
      this.#responseTimer = setTimeout(() => this.#outOfTime(), this.#responseMs);
    }
    this.#events.onRequestSent();
  }

  onResponseStarted(): void {
    this.#hasBegun = true;
    if (!this.#isOver) this.#events.onResponseStarted();
  }

  onResponseStart(controller: Controller, status: number, headers: AnswerFields, statusText?: string): void {
    if (this.#isOver) return;
    const head = { status, headers, statusText, rawHeaders: controller.rawHeaders };
    if (status < 200) {
      this.#events.onInterim(head);
      return;
    }
    this.#hasHead = true;
    clearTimeout(this.#responseTimer);
    this.#events.onHead(head);
  }

  onResponseData(_controller: Controller, octets: Buffer): void {
    if (!this.#isOver) this.#events.onContent(octets);
  }

  onResponseEnd(controller: Controller, trailers: AnswerFields): void {
    if (!this.#end()) return;
    this.#connection.release();
    this.#events.onEnd(trailers, controller.rawTrailers);
  }

  onRequestUpgrade(controller: Controller, status: number, headers: AnswerFields, socket: Duplex): void {
    if (!this.#end()) return;
    this.#connection.destroy();
    this.#events.onUpgrade({ status, headers, statusText: undefined, rawHeaders: controller.rawHeaders }, socket);
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (!this.#end()) return;
    this.#connection.destroy();
    this.#events.onFailure(error);
  }

  #outOfTime(): void {
    const late = new errors.HeadersTimeoutError(`no response within ${this.#responseMs} ms`);
    this.abort(late);
    this.#events.onFailure(late);
  }

  /** False when it was over already. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#responseTimer);
    return true;
  }
}

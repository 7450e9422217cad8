// The dispatcher: requests for services become exchanges, those for other hosts go to the fallback.
import { Dispatcher, Dispatcher1Wrapper, errors, getGlobalDispatcher } from 'undici';
import type { Clock } from '../core/clock.ts';
import type { DiscoveryDispatcher, UpstreamView } from './discovery-dispatcher.ts';
import { Exchange, type ExchangeServices } from './exchange.ts';
import type { Service } from './service.ts';
import { ServiceAddresses } from './service-address.ts';
import { viewUpstreams } from './upstreams-view.ts';
import { WeirError } from './weir-error.ts';

export interface DispatcherParts extends Omit<ExchangeServices, 'onFinished'> {
  readonly services: readonly Service[];
  /** Takes requests for other hosts; undici's global dispatcher of this moment when undefined. */
  readonly fallback: Dispatcher | undefined;
  readonly clock: Clock;
  readonly stopDiscovery: () => Promise<void>;
}

export class ServiceDispatcher extends Dispatcher implements DiscoveryDispatcher {
  readonly #parts: DispatcherParts;
  readonly #addresses: ServiceAddresses<Service>;
  readonly #fallback: Dispatcher;
  readonly #exchangeServices: ExchangeServices;
  readonly #running = new Set<Exchange>();
  readonly #forOlderHandlers: Dispatcher = new Dispatcher1Wrapper(this);
  #closing: Promise<void> | undefined;
  #destroying: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  readonly #ended = new AbortController();

  constructor(parts: DispatcherParts) {
    super();
    this.#parts = parts;
    this.#addresses = new ServiceAddresses(parts.services);
    // Not looked up later: this dispatcher may become the global one.
    this.#fallback = parts.fallback ?? getGlobalDispatcher();
    const { book, readyTimeoutMs, sockets, log } = parts;
    this.#exchangeServices = {
      book,
      readyTimeoutMs,
      sockets,
      log,
      onFinished: (exchange) => {
        this.#running.delete(exchange);
        if (this.#running.size === 0) this.#onIdle?.();
      },
    };
  }

  get closed(): boolean {
    return this.#closing !== undefined || this.#destroying !== undefined;
  }

  get destroyed(): boolean {
    return this.#destroying !== undefined;
  }

  async ready(): Promise<void> {
    const { book, services, readyTimeoutMs } = this.#parts;
    if (this.closed) throw new errors.ClientClosedError();
    const unanswered = services.filter(({ name }) => !book.isAnswered(name));
    const cancels: (() => void)[] = [];
    const answers = unanswered.map(({ name }) => {
      return new Promise<void>((resolve) => cancels.push(book.onFirstAnswer(name, resolve)));
    });
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => late.reject(this.#notReady()), readyTimeoutMs);
    cancels.push(() => clearTimeout(timer));
    const onEnded = (): void => late.reject(new errors.ClientClosedError());
    this.#ended.signal.addEventListener('abort', onEnded);
    cancels.push(() => this.#ended.signal.removeEventListener('abort', onEnded));
    try {
      await Promise.race([Promise.all(answers), late.promise]);
    } finally {
      for (const cancel of cancels) cancel();
    }
  }

  upstreams(): UpstreamView[] {
    const { services, book, clock } = this.#parts;
    return viewUpstreams(services, book, clock);
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // The fetch of Node 24 speaks to handlers of undici 7.
    if (typeof handler?.onRequestStart !== 'function') return this.#forOlderHandlers.dispatch(options, handler);
    try {
      if (this.destroyed) throw new errors.ClientDestroyedError();
      if (this.closed) throw new errors.ClientClosedError();
      const service = this.#addresses.find(options.origin);
      if (service === undefined) return this.#fallback.dispatch(options, handler);
      if (service instanceof WeirError) throw service;
      if (options.method === 'CONNECT') {
        throw new WeirError('WEIR_BAD_ADDRESS', `${service.name} is a service: there is nothing to CONNECT to`);
      }
      const exchange = new Exchange({ service, options, handler }, this.#exchangeServices);
      this.#running.add(exchange);
      exchange.begin();
    } catch (error) {
      refuse(handler, error);
    }
    return true;
  }

  /** Takes no more requests, lets those under way end, then stops discovery and closes all connections. */
  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | undefined {
    this.#closing ??= this.#close();
    return settle(this.#closing, callback);
  }

  /** Ends the requests under way with the error, stops discovery and closes all connections. */
  override destroy(error: Error | null, callback: () => void): void;
  override destroy(callback: () => void): void;
  override destroy(error: Error | null): Promise<void>;
  override destroy(): Promise<void>;
  override destroy(error?: Error | null | (() => void), callback?: () => void): Promise<void> | undefined {
    const reason = error instanceof Error ? error : new errors.ClientDestroyedError();
    this.#destroying ??= this.#destroy(reason);
    return settle(this.#destroying, typeof error === 'function' ? error : callback);
  }

  async #close(): Promise<void> {
    const idle = Promise.withResolvers<void>();
    this.#onIdle = idle.resolve;
    if (this.#running.size > 0) await idle.promise;
    await this.destroy(new errors.ClientClosedError());
  }

  async #destroy(reason: Error): Promise<void> {
    this.#ended.abort();
    for (const exchange of [...this.#running]) exchange.end(reason);
    for (const { connections } of this.#parts.services) connections.close();
    await this.#parts.stopDiscovery();
  }

  #notReady(): WeirError {
    const unanswered = this.#parts.book.statuses().filter(({ lastSuccessMs }) => lastSuccessMs === null);
    const lines = unanswered.map(({ service, source, lastError }) => {
      return `${service}: ${lastError ?? `${source} has said nothing of it`}`;
    });
    return new WeirError('WEIR_NOT_READY', `discovery has not answered for ${lines.join('; ')}`);
  }
}

function refuse(handler: Dispatcher.DispatchHandler, error: unknown): void {
  if (typeof handler.onResponseError !== 'function') throw error;
  const controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
  };
  handler.onResponseError(controller, error instanceof Error ? error : new Error(String(error)));
}

function settle(done: Promise<void>, callback: (() => void) | undefined): Promise<void> | undefined {
  if (callback === undefined) return done;
  void done.then(callback);
  return undefined;
}

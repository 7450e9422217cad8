// All the ways to an endpoint behind one seam: each request goes by the HTTP version that its route says.
import { Http1Upstream, type Http1UpstreamOptions } from './http1-upstream.ts';
import { Http2Upstream } from './http2-upstream.ts';
import type { Upstream, UpstreamCall, UpstreamEvents, UpstreamRequest, UpstreamTarget } from './upstream.ts';

export class Upstreams implements Upstream {
  readonly #http1: Http1Upstream;
  readonly #http2: Http2Upstream;

  constructor(options: Http1UpstreamOptions) {
    this.#http1 = new Http1Upstream(options);
    this.#http2 = new Http2Upstream(options);
  }

  send(to: UpstreamTarget, request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    return (request.http2 === null ? this.#http1 : this.#http2).send(to, request, events);
  }

  forget(target: UpstreamTarget): void {
    this.#http1.forget(target);
    this.#http2.forget(target);
  }

  stop(): void {
    this.#http1.stop();
    this.#http2.stop();
  }
}

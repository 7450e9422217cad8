// A collector of traces: takes OTLP over HTTP with JSON, and gives the spans in a readable form.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startHttpServer } from './local-server.ts';
import { waitFor } from './wait-for.ts';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for a span without parent. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly isError: boolean;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The attributes of the resource. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface OtlpCollector {
  /** Without path. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The heads of the exports. */
  readonly exports: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  /** What is answered; 'never' leaves the exporter waiting. */
  answer: number | 'never';
  /** Waits for so many spans. */
  collected(count: number): Promise<readonly CollectedSpan[]>;
  stop(): Promise<void>;
}

const LIMIT_MS = 20_000;

export async function startCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const exports: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    exports.push({ path: request.url ?? '', headers: request.headers });
    const { answer } = collector;
    if (answer === 'never') return;
    if (answer === 200) spans.push(...spansOf(JSON.parse(Buffer.concat(pieces).toString())));
    response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
  };
  const server = await startHttpServer((request, response) => void take(request, response).catch(() => undefined));
  const collector: OtlpCollector = {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    exports,
    answer: 200,
    collected: (count) => {
      return waitFor(() => spans.length >= count && spans, { limitMs: LIMIT_MS, what: `${count} spans` });
    },
    stop: () => server.stop(),
  };
  return collector;
}

/** What the tests read of ExportTraceServiceRequest (opentelemetry-proto, JSON). */
interface Payload {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number };
}

function spansOf({ resourceSpans }: Payload): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind === 2 ? ('server' as const) : ('client' as const),
        isError: span.status.code === 2,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

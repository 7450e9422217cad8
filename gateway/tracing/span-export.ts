// The way of ended spans to the collector: a bounded queue, an export with a deadline, and a count of what became of them.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Log } from '../core/log.ts';
import type { SpanFate } from '../core/tracing.ts';

export interface SpanExportOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly log: Log;
  readonly onSpans: (fate: SpanFate, count: number) => void;
}

type ExportDone = Parameters<SpanExporter['export']>[1];

/** Spans that wait or are under way; those beyond are dropped. */
const MOST_SPANS = 2048;
/** Spans of one export: writing them as JSON holds up a worker for about 1 ms. */
const BATCH_SPANS = 128;
const PAUSE_MS = 1000;
/** For the exporter, which retries within it, and for the whole of an export. */
const EXPORTER_MS = 5000;
const EXPORT_MS = 7000;

/** Takes ended spans and exports them in batches; `shutdown` exports what waits. */
export function createSpanProcessor(options: SpanExportOptions): SpanProcessor {
  return new BoundedProcessor(options);
}

class BoundedProcessor implements SpanProcessor {
  readonly #options: SpanExportOptions;
  readonly #inner: BatchSpanProcessor;
  #held = 0;

  constructor(options: SpanExportOptions) {
    this.#options = options;
    const exporter = new WatchedExporter(options, (count) => {
      this.#held -= count;
    });
    this.#inner = new BatchSpanProcessor({
      exporter,
      maxQueueSize: MOST_SPANS,
      maxExportBatchSize: BATCH_SPANS,
      scheduledDelayMillis: PAUSE_MS,
      exportTimeoutMillis: EXPORT_MS + PAUSE_MS,
    });
  }

  onStart(): void {
    // Only ended spans matter.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#held >= MOST_SPANS) {
      this.#options.onSpans('dropped', 1);
      return;
    }
    this.#held++;
    this.#inner.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}

/** Ends every export in time, and says once that the collector cannot be reached, and once that it can again. */
class WatchedExporter implements SpanExporter {
  readonly #options: SpanExportOptions;
  readonly #exporter: OTLPTraceExporter;
  readonly #onLeft: (count: number) => void;
  #isOut = false;

  constructor(options: SpanExportOptions, onLeft: (count: number) => void) {
    this.#options = options;
    this.#onLeft = onLeft;
    const { url, headers, userAgent } = options;
    const concurrencyLimit = MOST_SPANS / BATCH_SPANS + 1;
    this.#exporter = new OTLPTraceExporter({
      url,
      headers: { ...headers },
      userAgent,
      timeoutMillis: EXPORTER_MS,
      concurrencyLimit,
    });
  }

  export(spans: ReadableSpan[], done: ExportDone): void {
    const settle = once((result: Parameters<ExportDone>[0]) => {
      clearTimeout(deadline);
      this.#onLeft(spans.length);
      this.#options.onSpans(result.code === 0 ? 'exported' : 'failed', spans.length);
      this.#note(result.code === 0 ? null : (result.error?.message ?? 'the collector refused the spans'));
      done(result);
    });
    const late = () => settle({ code: 1, error: new Error('the collector did not answer in time') });
    const deadline = setTimeout(late, EXPORT_MS).unref();
    this.#exporter.export(spans, settle);
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #note(error: string | null): void {
    const { log } = this.#options;
    if (error !== null && !this.#isOut) log.warn({ error }, 'spans cannot be exported');
    if (error === null && this.#isOut) log.info({}, 'spans are exported again');
    this.#isOut = error !== null;
  }
}

function once<Value>(act: (value: Value) => void): (value: Value) => void {
  let isDone = false;
  return (value) => {
    if (isDone) return;
    isDone = true;
    act(value);
  };
}

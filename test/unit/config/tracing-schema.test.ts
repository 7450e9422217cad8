import { describe, expect, it } from 'vitest';
import { checkGateway, problemLines, valid } from './checking.ts';

function tracingOf(text: string) {
  return valid(checkGateway(text)).tracing;
}

describe('tracing', () => {
  it.each(['workers: 1', 'tracing: off'])('is off with "%s"', (text) => {
    expect(tracingOf(text)).toBe(null);
  });

  it('needs no more than a collector', () => {
    expect(tracingOf('tracing: { otlp: "http://127.0.0.1:4318" }')).toEqual({
      url: 'http://127.0.0.1:4318/v1/traces',
      samplePercent: 1,
      headers: {},
      serviceName: 'weir',
    });
  });

  it('takes header fields with variables in them', () => {
    const text = `tracing: { otlp: "https://otlp.example", headers: { Authorization: "Bearer \${TOKEN}" } }`;
    expect(valid(checkGateway(text, { TOKEN: 'abc' })).tracing?.headers).toEqual({ Authorization: 'Bearer abc' });
  });

  it.each([
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['https://otlp.example/otlp/v1/traces', 'https://otlp.example/otlp/v1/traces'],
    ['http://[::1]:4318', 'http://[::1]:4318/v1/traces'],
  ])('sends to %s', (otlp, url) => {
    expect(tracingOf(`tracing: { otlp: "${otlp}" }`)?.url).toBe(url);
  });

  it.each([
    ['0%', 0],
    ['0.01%', 0.01],
    ['12.5%', 12.5],
    ['100%', 100],
  ])('records %s of the requests', (sample, percent) => {
    expect(tracingOf(`tracing: { otlp: "http://a:1", sample: ${sample} }`)?.samplePercent).toBe(percent);
  });

  it.each([
    ['tracing: on', 'tracing'],
    ['tracing: {}', 'tracing.otlp'],
    ['tracing: { otlp: "grpc://a:4317" }', 'tracing.otlp'],
    ['tracing: { otlp: "http://user:password@a:4318" }', 'tracing.otlp'],
    ['tracing: { otlp: "http://a:4318/?key=1" }', 'tracing.otlp'],
    ['tracing: { otlp: "http://a:4318/#x" }', 'tracing.otlp'],
    ['tracing: { otlp: "http://a:1", sample: 101% }', 'tracing.sample'],
    ['tracing: { otlp: "http://a:1", sample: 1 }', 'tracing.sample'],
    ['tracing: { otlp: "http://a:1", sample: -1% }', 'tracing.sample'],
    ['tracing: { otlp: "http://a:1", headers: { Host: a } }', 'tracing.headers'],
    ['tracing: { otlp: "http://a:1", serviceName: "" }', 'tracing.serviceName'],
    ['tracing: { otlp: "http://a:1", ratio: 1% }', 'tracing.ratio'],
  ])('is refused as %s', (text, key) => {
    const lines = problemLines(checkGateway(text));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(key);
  });
});

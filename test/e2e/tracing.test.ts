// Traces of the real process: from its configuration to the collector.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type OtlpCollector, startCollector } from '../support/otlp-collector.ts';
import { startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

describe('a gateway that traces', () => {
  let owned = new AsyncDisposableStack();
  afterEach(async () => {
    await owned.disposeAsync();
    owned = new AsyncDisposableStack();
  });

  async function collector(): Promise<OtlpCollector> {
    return owned.adopt(await startCollector(), (each) => each.stop());
  }

  async function start(tracing: object | 'off'): Promise<WeirProcess> {
    const instances = await startInstances('one');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    const endpoints = instances.map(({ port }) => `127.0.0.1:${port}`);
    const routes = { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } };
    return owned.adopt(await startWeir({ routes, gateway: { tracing } }), (gateway) => gateway.close());
  }

  it('exports spans with the fields that are configured, logs their trace, and tells no secret', async () => {
    const to = await collector();
    const headers = { authorization: `Bearer \${WEIR_TEST_OTLP_TOKEN:-s3cr3t}` };
    const weir = await start({ otlp: to.url, sample: '100%', headers, serviceName: 'edge' });
    expect((await weir.get('/a')).status).toBe(200);
    const spans = await to.collected(2);
    const server = spans.find(({ kind }) => kind === 'server');
    expect(server).toMatchObject({ name: 'GET web', resource: { 'service.name': 'edge' } });
    expect(to.exports[0]).toMatchObject({ path: '/v1/traces', headers: { authorization: 'Bearer s3cr3t' } });
    const line = await waitFor(() => weir.accessLog().at(-1), { limitMs: 5000, what: 'a line of the access log' });
    expect(line.traceId).toBe(server?.traceId);
    const config = (await weir.admin('/debug/config')).body;
    expect(config).toContain('"samplePercent"');
    expect(config).not.toContain('s3cr3t');
    const exported = async () =>
      (await weir.admin('/metrics')).body.includes('weir_trace_spans_total{result="exported"} 2');
    await waitFor(exported, { limitMs: 5000, what: 'two exported spans in the metrics' });
  });

  it('exports the last spans when it stops', async () => {
    const to = await collector();
    const weir = await start({ otlp: to.url, sample: '100%' });
    for (let at = 0; at < 20; at++) expect((await weir.get('/')).status).toBe(200);
    await weir.stop();
    expect(to.spans.filter(({ kind }) => kind === 'server')).toHaveLength(20);
  });

  it('serves and stops as ever while the collector is silent', async () => {
    const to = await collector();
    to.answer = 'never';
    const weir = await start({ otlp: to.url, sample: '100%' });
    for (let at = 0; at < 20; at++) expect((await weir.get('/')).status).toBe(200);
    weir.signal('SIGTERM');
    expect((await weir.ended(15_000)).code).toBe(0);
  });

  it('begins with it after a reload', async () => {
    const to = await collector();
    const weir = await start('off');
    const file = join(weir.folder, 'config/gateway.yaml');
    const on = stringify({ otlp: to.url, sample: '100%' }, { indent: 2 }).replace(/^/gm, '  ');
    await writeFile(file, (await readFile(file, 'utf8')).replace('tracing: off', `tracing:\n${on}`));
    const isTraced = async () => {
      await weir.get('/');
      return to.spans.length > 0;
    };
    await waitFor(isTraced, { limitMs: 20_000, what: 'spans after the reload' });
  });

  it('logs no trace while it is off', async () => {
    const weir = await start('off');
    expect((await weir.get('/')).status).toBe(200);
    const line = await waitFor(() => weir.accessLog().at(-1), { limitMs: 5000, what: 'a line of the access log' });
    expect('traceId' in line).toBe(false);
  });
});

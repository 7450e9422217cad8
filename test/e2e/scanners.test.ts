// Traffic of scanners: whatever it sends, the metrics stay few and every line of the log stays one record.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consulEntry } from '../support/consul-entry.ts';
import { type LocalServer, startTcpServer } from '../support/local-server.ts';
import { type MetricFamily, parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { RawClient } from '../support/raw-client.ts';
import { type ScriptedConsul, startScriptedConsul } from '../support/scripted-consul.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { sendRaw } from '../support/send-raw.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 30_000;
const REQUESTS = 10_000;
const CONNECTIONS = 20;
const CHURNS = 50;
const INSTANCES = 100;

describe('what scanners send', () => {
  const owned = new AsyncDisposableStack();
  let consul: ScriptedConsul;
  let upstream: LocalServer;
  let weir: WeirProcess;

  beforeAll(async () => {
    consul = owned.adopt(await startScriptedConsul(), (server) => server.stop());
    upstream = owned.adopt(await startTcpServer(answerWithStatuses), (server) => server.stop());
    consul.set('churn', { entries: instancesOf(0) });
    const routes = {
      web: {
        service: 'web',
        endpoints: [`127.0.0.1:${upstream.port}`],
        ejection: { statuses: [] },
        match: [{ paths: ['/*'] }],
      },
      churn: { service: 'churn', match: [{ paths: ['/churn'] }] },
    };
    weir = owned.adopt(
      await startWeir({
        routes,
        gateway: { discovery: { consul: { agents: [consul.url] } }, log: { file: 'weir.log' } },
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  /** The lines of the log from the octet `from` on, as they are. */
  function raw(from = 0): string[] {
    const text = readFileSync(join(weir.folder, 'weir.log')).subarray(from).toString('utf8');
    return text.split('\n').slice(0, -1);
  }

  const logBytes = () => readFileSync(join(weir.folder, 'weir.log')).length;

  /** The metrics, all series and their text. */
  async function metrics(): Promise<{ families: ReadonlyMap<string, MetricFamily>; series: number; text: string }> {
    const { body } = await weir.admin('/metrics');
    const families = parsePrometheusText(body);
    const series = [...families.values()].reduce((sum, { samples }) => sum + samples.length, 0);
    return { families, series, text: body };
  }

  it.each([
    ['an encoded line end in the path', 'GET /x%0d%0aFAKE%20200 HTTP/1.1\r\nUser-Agent: forger\r\n'],
    ['quotes and escapes in a field', 'GET /x HTTP/1.1\r\nUser-Agent: forger a" "x\\u001b[31m\\n{"kind":"access"}\r\n'],
    ['octets beyond ASCII', 'GET /x HTTP/1.1\r\nUser-Agent: forger \x80\x85\x9b31m\xff\xc3\xa9\r\n'],
    ['line separators of Unicode', 'GET /x HTTP/1.1\r\nUser-Agent: forger \xe2\x80\xa8{}\r\n'],
    ['a very long field', `GET /x HTTP/1.1\r\nUser-Agent: forger ${'y'.repeat(8000)}\r\n`],
    ['a very long path', `GET /${'p'.repeat(7000)} HTTP/1.1\r\nUser-Agent: forger\r\n`],
    ['a very long method', `${'M'.repeat(7000)} / HTTP/1.1\r\nUser-Agent: forger\r\n`],
    ['a strange host', 'GET /x HTTP/1.1\r\nUser-Agent: forger\r\nHost: a"b\r\n'],
    ['a control octet', 'GET /x HTTP/1.1\r\nUser-Agent: forger\x1b[31m\r\n'],
  ])('is one record of the log, with %s (case 139)', async (_what, head) => {
    const from = logBytes();
    const host = head.includes('Host:') ? '' : 'Host: s\r\n';
    await sendRaw(weir.port, `${head}${host}Connection: close\r\n\r\n`);
    await waitFor(() => raw(from).length > 0, { limitMs: LIMIT_MS, what: 'its line' });
    // A request after it: what else the first may have written comes before.
    await sendRaw(weir.port, 'GET /next HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n');
    await waitFor(() => raw(from).some((line) => line.includes('"/next"')), {
      limitMs: LIMIT_MS,
      what: 'the next line',
    });
    const lines = raw(from);
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ kind: 'access', client: '127.0.0.1' });
    expect(lines[0]).toMatch(PRINTABLE);
    expect(lines[0]?.length).toBeLessThan(4096);
  });

  it('cannot come from discovery either (case 139)', async () => {
    const from = logBytes();
    const odd = consulEntry({ id: 'x\n{"level":"error"}\u009b31m', address: 'a\nb', port: 'p\r\n' });
    consul.set('churn', { entries: [...instancesOf(0), odd] });
    await weir.serviceWith('churn', 'the odd record', ({ skippedRecords }) => skippedRecords === 1);
    await waitFor(() => raw(from).length > 0, { limitMs: LIMIT_MS, what: 'a word about it' });
    for (const line of raw(from)) {
      expect(JSON.parse(line)).toMatchObject({ level: expect.stringMatching(/^(?:info|warn)$/) });
      expect(line).toMatch(PRINTABLE);
    }
  });

  it('makes no series of its paths, hosts, methods and statuses (case 138)', async () => {
    const random = createSeededRandom(138);
    const counted = (families: ReadonlyMap<string, MetricFamily>) =>
      sumOf(families, 'weir_requests_total', { route: 'web' });
    const before = await metrics();
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const client = await RawClient.connect(weir.port);
        try {
          const requests = Array.from({ length: REQUESTS / CONNECTIONS }, () => scan(random.below(2 ** 31)));
          client.send(requests.join(''));
          await client.until((text) => text.split('HTTP/1.1 ').length > requests.length, LIMIT_MS);
          expect(client.received.split('HTTP/1.1 ')).toHaveLength(requests.length + 1);
        } finally {
          client.close();
        }
      }),
    );
    const after = await waitFor(
      async () => {
        const now = await metrics();
        return counted(now.families) === counted(before.families) + REQUESTS && now;
      },
      { limitMs: LIMIT_MS, what: 'all requests to be counted' },
    );
    // At most one for each method that is known, `other`, and each class of statuses.
    expect(after.series - before.series).toBeLessThan(60);
    expect(after.text.length).toBeLessThan(200_000);
    expect(after.text).not.toMatch(/FOO|scan-|\.example/);
    const labels = after.families.get('weir_requests_total')?.samples.map(({ labels: each }) => each);
    expect(new Set(labels?.map(({ method }) => method))).toEqual(new Set(['GET', 'POST', 'other']));
    expect(labels?.every(({ status }) => /^[1-5]xx$/.test(status ?? ''))).toBe(true);
  });

  it('and instances that come and go leave no series behind (case 138)', async () => {
    const before = await metrics();
    for (let time = 1; time <= CHURNS; time++) {
      consul.set('churn', { entries: instancesOf(time) });
      const newest = `10.9.${time}.1:8080`;
      await weir.serviceWith('churn', `instances ${time}`, ({ endpoints }) =>
        endpoints.some(({ endpoint }) => endpoint === newest),
      );
    }
    const after = await metrics();
    expect(after.text).not.toContain('10.9.0.1:');
    expect(Math.abs(after.series - before.series)).toBeLessThan(20);
  });
});

/** A line without control characters of any kind, and without line ends that some readers see. */
const PRINTABLE = /^[\x20-\x7e\u00a0-\u2027\u202a-\ufffd]*$/;

/** A request that nobody else sends, followed by others on its connection. */
function scan(number: number): string {
  const method = ['GET', 'POST', `FOO${number % 1000}`][number % 3];
  return `${method} /scan-${number}?status=${200 + (number % 800)} HTTP/1.1\r\nHost: h${number}.example\r\nContent-Length: 0\r\n\r\n`;
}

/** Answers every request with the status that it asks for. */
function answerWithStatuses(socket: Socket): void {
  let unread = '';
  socket.on('data', (piece) => {
    unread += piece.toString('latin1');
    const heads = unread.split('\r\n\r\n');
    unread = heads.pop() ?? '';
    socket.write(heads.map(answerTo).join(''));
  });
}

function answerTo(head: string): string {
  const status = /\?status=(\d+)/.exec(head)?.[1] ?? '200';
  const length = status === '204' ? '' : 'Content-Length: 0\r\n';
  return `HTTP/1.1 ${status} Whatever\r\n${length}\r\n`;
}

/** A hundred instances that were never seen before. */
function instancesOf(time: number): unknown[] {
  return Array.from({ length: INSTANCES }, (_, at) => {
    return consulEntry({ id: `churn-${time}-${at}`, address: `10.9.${time}.${at + 1}` });
  });
}

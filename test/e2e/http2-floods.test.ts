// Floods of HTTP/2 frames at a real gateway: each session ends, memory stays, and others are answered meanwhile.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuMicroseconds, residentMiB } from '../../bench/support/process.ts';
import { hasOpenssl } from '../support/certificates.ts';
import {
  block,
  content,
  FRAME,
  frame,
  GET,
  headers,
  POST,
  ping,
  reset,
  SETTING,
  settings,
} from '../support/http2-frames.ts';
import { startHttp2Load } from '../support/http2-load.ts';
import { endHttp2AfterEach, rawSecureSessionTo } from '../support/http2-scene.ts';
import { type FrontService, startFrontService } from '../support/http2-service.ts';
import type { RawHttp2Client } from '../support/raw-http2-client.ts';
import { startTlsWeir, type TlsWeir } from '../support/tls-weir.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 30_000;
/** Sessions that flood, one after the other in each of so many lanes: nobody stays away because of a GOAWAY. */
const LANES = 4;
const SESSIONS_OF_LANE = 5;
/** What the process may take more than before, whatever is sent: the heap of a worker alone varies by so much. */
const MOST_GROWTH_MIB = 200;

const id = (at: number) => 2 * at + 1;
const repeat = (count: number, octets: (at: number) => readonly Buffer[]) =>
  Array.from({ length: count }, (_, at) => octets(at)).flat();
const held = (fields: typeof GET) => fields.map(([name, value]) => [name, name === ':path' ? '/held' : value] as const);

endHttp2AfterEach();

describe.skipIf(!hasOpenssl())('a gateway that is flooded over TLS with', () => {
  const owned = new AsyncDisposableStack();
  let service: FrontService;
  let front: TlsWeir;
  let pid: number;

  beforeAll(async () => {
    service = owned.adopt(await startFrontService(), (each) => each.stop());
    const endpoints = [`127.0.0.1:${service.port}`];
    front = await startTlsWeir(owned, { routes: { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } } });
    pid = (await front.weir.upstreams()).gateway.pid;
  });
  afterAll(() => owned.disposeAsync());

  /** Runs the flood while others ask, prints what it cost, and checks that they were all answered. */
  async function endure(what: string, flood: () => Promise<void>): Promise<void> {
    const load = startHttp2Load({ port: front.port, ca: front.ca, path: '/', content: 'ok', sessions: 2, streams: 2 });
    owned.defer(() => load.stop());
    const more = async (answers: number) => {
      const before = load.answered;
      await waitFor(() => load.answered > before + answers, { limitMs: LIMIT_MS, what: 'answers for others' });
    };
    await more(100);
    const [memory, cpu, begunMs, answered] = [residentMiB(pid), cpuMicroseconds(pid), performance.now(), load.answered];
    await flood();
    const seconds = (performance.now() - begunMs) / 1000;
    const during = load.answered - answered;
    const growth = Math.round(residentMiB(pid) - memory);
    const cpuSeconds = ((cpuMicroseconds(pid) - cpu) / 1e6).toFixed(1);
    console.info(
      `${what}: ${seconds.toFixed(1)} s, ${cpuSeconds} s of CPU, ${growth} MiB more, ${during} answers to others`,
    );
    // Both before and after the flood is over others are served.
    await more(100);
    await load.stop();
    expect(load.lost).toEqual([]);
    expect(load.goaways).toBe(0);
    expect(growth).toBeLessThan(MOST_GROWTH_MIB);
  }

  async function untilEnded(client: RawHttp2Client): Promise<void> {
    await client.untilClosed(LIMIT_MS);
    client.close();
  }

  it.each<readonly [what: string, octets: readonly Buffer[]]>([
    [
      'requests that are reset at once (CVE-2023-44487)',
      repeat(5000, (at) => [headers(id(at), held(GET)), reset(id(at))]),
    ],
    ['SETTINGS', repeat(5000, () => [settings([SETTING.initialWindow, 65_535])])],
    ['PING', repeat(5000, () => [ping()])],
    ['empty DATA', [headers(1, held(POST), 0), ...repeat(5000, () => [content(1, '', 0)])]],
    [
      'empty CONTINUATION',
      [frame(FRAME.headers, 1, 1, block(GET)), ...repeat(5000, () => [frame(FRAME.continuation, 0, 1)])],
    ],
    [
      'CONTINUATION without an end',
      [
        frame(FRAME.headers, 1, 1, block(GET)),
        ...repeat(500, (at) => [frame(FRAME.continuation, 0, 1, block([[`x-${at}`, 'y'.repeat(16_000)]]))]),
      ],
    ],
    ['malformed requests', repeat(2000, (at) => [headers(id(at), [...GET, ['connection', 'x']])])],
    ['more streams than it may open', repeat(2000, (at) => [headers(id(at), held(POST), 0)])],
  ])('%s', async (what, octets) => {
    const flood = Buffer.concat(octets);
    const lane = async () => {
      for (let at = 0; at < SESSIONS_OF_LANE; at++) {
        const client = await rawSecureSessionTo(front.port);
        client.send(flood);
        await untilEnded(client);
      }
    };
    await endure(what, async () => void (await Promise.all(Array.from({ length: LANES }, lane))));
    await waitFor(() => service.held.every(({ destroyed }) => destroyed), {
      limitMs: LIMIT_MS,
      what: 'the service to be free',
    });
    service.held.length = 0;
  });

  it('requests for much that is never read, on windows that stay closed', async () => {
    const large: typeof GET = GET.map(([name, value]) => [name, name === ':path' ? '/octets?1000000' : value]);
    await endure('closed windows', async () => {
      const clients = await Promise.all(
        Array.from({ length: LANES * 2 }, () => rawSecureSessionTo(front.port, [SETTING.initialWindow, 0])),
      );
      for (const client of clients) client.send(...repeat(100, (at) => [headers(id(at), large)]));
      for (const client of clients) {
        const isHeld = () => client.frames.filter(({ type }) => type === FRAME.headers).length === 100;
        await waitFor(isHeld, { limitMs: LIMIT_MS, what: 'a hundred answers to begin' });
      }
      for (const client of clients) client.close();
    });
  });
});

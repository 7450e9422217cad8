// What an endpoint may answer and what becomes of it: interim and early answers, surplus, reuse, tunnels.
import { describe, expect, it } from 'vitest';
import { exchange, get, RawClient } from '../../support/raw-client.ts';
import { answering, OK, type RawConnection, type RawUpstream } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const GET = 'GET / HTTP/1.1\r\nHost: s\r\n\r\n';

async function freed(upstream: RawUpstream, limitMs = 1500): Promise<void> {
  await waitFor(() => upstream.open() === 0, { limitMs, what: 'the upstream connections to be freed' });
}

describe('an interim response', () => {
  it('reaches the client and is no part of the final one (case 27)', async () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n';
    const upstream = await upstreamThat(
      answering(`${hint}${hint}HTTP/1.1 200 OK\r\nX-F: 1\r\nContent-Length: 2\r\n\r\nok`),
    );
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const answer = await exchange(gateway.port, get('/'));
    expect(answer.match(/HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\n\r\n/g)).toHaveLength(2);
    expect(answer).not.toMatch(/x-hop/i);
    expect(answer.slice(answer.indexOf('200 OK'))).not.toContain('Link');
  });

  it('of 101 that nobody asked for is 502, and its connection closes (case 57)', async () => {
    const upstream = await upstreamThat(
      answering('HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\nhello'),
    );
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const answer = await exchange(gateway.port, get('/'));
    expect(answer).toMatch(/^HTTP\/1\.1 502 [\s\S]*error=http_protocol_error/);
    await freed(upstream);
  });

  it('that never ends is an attack', async () => {
    const upstream = await upstreamThat(answering('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000)));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    expect(await exchange(gateway.port, get('/'))).toContain('HTTP/1.1 502');
  });
});

describe('a client that expects 100-continue', () => {
  const head = 'POST /e HTTP/1.1\r\nHost: s\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n';

  it.each([
    ['says it', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['never says it', ''],
  ])('is told to go on, whether the endpoint %s (case 24)', async (_what, interim) => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write(interim);
      socket.on('data', (piece) => {
        if (piece.includes('abc')) socket.write(OK);
      });
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    const begun = performance.now();
    client.send(head);
    await client.until('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('abc');
    const answer = await client.until('\r\n\r\nok');
    expect(performance.now() - begun).toBeLessThan(1500);
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(answer.match(/HTTP\/1\.1 100/g)).toHaveLength(1);
    expect(upstream.received()).toMatch(/expect: 100-continue/i);
    client.close();
  });

  it.each(['417', '401', '413'])('is refused with %s without having been told to go on (case 25)', async (status) => {
    const upstream = await upstreamThat(answering(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\nno`));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { body: '1GiB' } });
    const client = await RawClient.connect(gateway.port);
    client.send(head.replace('Content-Length: 3', 'Content-Length: 20000000'));
    const answer = await client.untilClosed(4000);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} No\r\n[\\s\\S]*no$`));
  });
});

describe('a kept upstream connection', () => {
  it('is used again, the newest first', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    for (let at = 0; at < 10; at++) await exchange(gateway.port, get('/'));
    expect(upstream.connections).toHaveLength(1);
    expect(upstream.connections[0]?.heads).toBe(10);
  });

  it.each([
    ['closes before it reads', (connection: RawConnection) => connection.socket.end()],
    ['resets after it has read', (connection: RawConnection) => connection.socket.resetAndDestroy()],
  ])('that %s the second request costs a GET nothing (case 21)', async (_what, fault) => {
    const upstream = await upstreamThat((connection) => {
      if (connection.heads === 1) connection.socket.write(OK);
      else fault(connection);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    for (let at = 0; at < 6; at++) expect(await exchange(gateway.port, get('/'))).toContain('200 OK');
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
  });

  it('that ends with a POST on it is 502, and the POST is seen once (case 22)', async () => {
    const upstream = await upstreamThat((connection) => {
      if (connection.heads === 1) connection.socket.write(OK);
      else connection.socket.resetAndDestroy();
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    await exchange(gateway.port, get('/'));
    const post = 'POST /pay HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 5\r\n\r\nmoney';
    expect(await exchange(gateway.port, post)).toContain('HTTP/1.1 502');
    expect(upstream.received().match(/money/g)).toHaveLength(1);
  });

  it('with surplus behind an answer is not used again, and the surplus is nobody’s (case 60)', async () => {
    const upstream = await upstreamThat(answering(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL`));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    for (let at = 0; at < 3; at++) {
      const answer = await exchange(gateway.port, get('/'));
      expect(answer).toMatch(/\r\n\r\nok$/);
      expect(answer).not.toContain('EVIL');
    }
    expect(upstream.connections).toHaveLength(3);
    await freed(upstream);
  });

  it.each([
    ['a late word', 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n'],
    ['an octet', 'x'],
  ])('that says %s while it is idle is closed', async (_what, octets) => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    await exchange(gateway.port, get('/'));
    upstream.connections[0]?.socket.write(octets);
    await freed(upstream);
    expect(await exchange(gateway.port, get('/'))).toMatch(/ok$/);
  });

  it.each([
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['Connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'],
    ['no time to keep it', 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok'],
  ])('is closed by the gateway when the endpoint says %s', async (_what, octets) => {
    const upstream = await upstreamThat(answering(octets));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    expect(await exchange(gateway.port, get('/'))).toMatch(/ok$/);
    await freed(upstream);
  });
});

describe('a response head', () => {
  it.each([
    [12_000, 200],
    [60_000, 200],
    [70_000, 502],
    [1_000_000, 502],
  ])('of %d octets is %d (case 46)', async (bytes, status) => {
    const line = `X-Big: ${'a'.repeat(990)}\r\n`;
    const upstream = await upstreamThat(
      answering(`HTTP/1.1 200 OK\r\n${line.repeat(Math.floor(bytes / line.length))}Content-Length: 2\r\n\r\nok`),
    );
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const answer = await exchange(gateway.port, get('/'));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    if (status === 502) await freed(upstream);
  });

  it.each([
    ['a space before a colon', 'HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length: 2\r\n\r\nok'],
    ['a folded line', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 2\r\n\r\nok'],
    ['bare line ends', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['both framings', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    ['an unknown coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok'],
    ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2p1\r\n\r\n'],
  ])('with %s is 502 (case 16)', async (_what, octets) => {
    const upstream = await upstreamThat(answering(octets));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    expect(await exchange(gateway.port, get('/'))).toMatch(/^HTTP\/1\.1 502 [\s\S]*error=http_protocol_error/);
    await freed(upstream);
  });

  it('is the same to the client however it is split', async () => {
    const octets =
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 Fine\r\nDate: today\r\nX-A: \xe9\r\nTransfer-Encoding: chunked\r\n\r\n' +
      '3\r\nabc\r\n2;e\r\nde\r\n0\r\nX-T: 1\r\n\r\n';
    const plain = (answer: string): string =>
      answer.replace(/\r\n\r\n(?:\w+\r\n\w+\r\n)+0\r\n/, (chunks) => chunks.replaceAll(/\w+\r\n(\w+)\r\n/g, '$1'));
    const seen = new Set<string>();
    for (let at = 1; at < octets.length; at++) {
      const upstream = await upstreamThat(({ socket }) => {
        socket.write(octets.slice(0, at), 'latin1');
        setImmediate(() => socket.write(octets.slice(at), 'latin1'));
      });
      const gateway = await gatewayFor({ endpoints: [upstream.port] });
      seen.add(plain(await exchange(gateway.port, get('/'))));
    }
    expect([...seen]).toHaveLength(1);
    expect([...seen][0]).toMatch(/^HTTP\/1\.1 103 [\s\S]*200 Fine\r\n[\s\S]*abcde0\r\nX-T: 1\r\n\r\n$/);
  }, 60_000);

  it.each([
    [
      '206',
      'HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 10-19/100\r\nAccept-Ranges: bytes\r\nContent-Length: 2\r\n\r\nok',
    ],
    ['416', 'HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */100\r\nContent-Length: 0\r\n\r\n'],
  ])('of %s keeps what it says of the range (case 42)', async (_status, octets) => {
    const upstream = await upstreamThat(answering(octets));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const answer = await exchange(gateway.port, get('/v', 'Range: bytes=10-19\r\nIf-Range: "e1"\r\n'));
    expect(answer.replace(/Date: [^\r]*\r\n/, '').replace('Connection: close\r\n', '')).toBe(octets);
    expect(upstream.received()).toContain('Range: bytes=10-19\r\nIf-Range: "e1"\r\n');
  });
});

describe('a WebSocket', () => {
  const upgrade =
    'GET /ws HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

  it('loses no octet that came with the upgrade or with its answer (cases 51 and 52)', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.write(`${switched}\x81\x02hi`, 'latin1'));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    for (let at = 0; at < 30; at++) {
      const client = await RawClient.connect(gateway.port);
      client.send(`${upgrade}\x81\x82\x00\x00\x00\x00hi`);
      const answer = await client.until('\x81\x02hi');
      expect(answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
      await waitFor(() => upstream.connections[at]?.received.endsWith('\x81\x82\x00\x00\x00\x00hi'), {
        limitMs: 1000,
        what: 'the first frame',
      });
      expect(gateway.endpoints()[0]?.inFlight).toBe(1);
      client.close();
      await waitFor(() => gateway.endpoints()[0]?.inFlight === 0, { limitMs: 1000, what: 'the tunnel to end' });
    }
    await freed(upstream);
  });

  it.each([
    ['a length', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nnope', 'nope'],
    [
      'chunks',
      'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nnope\r\n0\r\n\r\n',
      'nope',
    ],
    ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n', '/x'],
  ])('that is refused with %s gets that answer, and both ends are freed (case 49)', async (_what, octets, wanted) => {
    const upstream = await upstreamThat(answering(octets));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(upgrade);
    const answer = await client.untilClosed(1500);
    expect(answer).toMatch(/^HTTP\/1\.1 (403|401|302) /);
    expect(answer.toLowerCase()).toContain(wanted);
    await freed(upstream);
  });

  it('whose client leaves before the answer frees the upstream (case 54)', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.connect(gateway.port)));
    for (const client of clients) client.send(upgrade);
    await waitFor(() => upstream.connections.length === 20, { limitMs: 2000, what: 'the upgrades to arrive' });
    for (const client of clients) client.close();
    await freed(upstream);
  });

  it('whose endpoint closes without an octet is 502 (case 54)', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.end());
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(upgrade);
    expect(await client.untilClosed(1500)).toMatch(/^HTTP\/1\.1 502 /);
  });

  it('keeps its closing handshake (case 58)', async () => {
    const close = '\x88\x05\x03\xe9bye';
    const reply = '\x88\x82\x00\x00\x00\x00\x03\xe9';
    const upstream = await upstreamThat(({ socket }) => void socket.write(switched + close, 'latin1'));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(upgrade);
    await client.until(close);
    client.send(reply);
    await waitFor(() => upstream.received().endsWith(reply), { limitMs: 1000, what: 'the reply' });
    upstream.connections[0]?.socket.end();
    await client.untilClosed(5000);
    await freed(upstream);
  });

  it('is an ordinary request where the route does not allow it', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { websocket: false } });
    const client = await RawClient.connect(gateway.port);
    client.send(upgrade);
    expect(await client.until('\r\n\r\nok')).toMatch(/^HTTP\/1\.1 200/);
    expect(upstream.received()).not.toMatch(/upgrade/i);
    client.close();
  });
});

describe('an upload', () => {
  it('is read no faster than the endpoint reads it (case 45)', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.pause());
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { body: '1GiB' } });
    const client = await RawClient.connect(gateway.port);
    client.send(`POST / HTTP/1.1\r\nHost: s\r\nContent-Length: ${200 * 1024 * 1024}\r\n\r\n`);
    let offered = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const push = (): void => {
      while (offered < 200 * 1024 * 1024) {
        offered += chunk.length;
        if (!client.socket.write(chunk)) break;
      }
    };
    client.socket.on('drain', push);
    push();
    let [last, since] = [-1, 0];
    await waitFor(
      () => {
        if (offered !== last) [last, since] = [offered, performance.now()];
        return performance.now() - since > 500;
      },
      { limitMs: 8000, what: 'the client to be held up' },
    );
    expect(offered).toBeLessThan(32 * 1024 * 1024);
    client.reset();
    for (const { socket } of upstream.connections) socket.resume();
    await freed(upstream, 4000);
  });
});

describe('an IPv6 endpoint', () => {
  it('is reached, and named with brackets (case 48)', async () => {
    const { createServer } = await import('node:http');
    const { once } = await import('node:events');
    const hosts: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      hosts.push(request.headers.host);
      response.end('ok');
    }).listen(0, '::1');
    await once(server, 'listening');
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const { endpoint } = await import('../../support/endpoints.ts');
    const at = endpoint(port, { key: `[::1]:${port}`, host: '::1' });
    for (const host of ['upstream', 'client']) {
      const gateway = await gatewayFor({ endpoints: [at], route: { rewrite: { host } } });
      expect(await exchange(gateway.port, get('/'))).toContain('200 OK');
    }
    expect(hosts).toEqual([`[::1]:${port}`, 's']);
    server.closeAllConnections();
    server.close();
  });
});

describe('the connection limit', () => {
  it('refuses at accept, and a place that is free again is given again', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [upstream.port], gateway: { limits: { connections: 2 } } });
    const [one, two] = [await RawClient.connect(gateway.port), await RawClient.connect(gateway.port)];
    one.send(GET);
    await one.until('\r\n\r\nok');
    const three = await RawClient.connect(gateway.port);
    await three.untilClosed(5000);
    one.close();
    await waitFor(() => gateway.connections().downstream === 1, { limitMs: 1000, what: 'the place to be free' });
    expect(await exchange(gateway.port, get('/'))).toContain('200 OK');
    two.close();
  });
});

describe('an answer that ends its connection', () => {
  it.each([
    ['a client that says close', get('/')],
    ['a client of HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
  ])(
    'reaches %s whole, however slowly it reads',
    async (_what, request) => {
      const content = Buffer.alloc(30_000_000, 'x');
      const upstream = await upstreamThat(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n`);
        socket.write(content);
      });
      const gateway = await gatewayFor({ endpoints: [upstream.port] });
      const client = await RawClient.connect(gateway.port);
      client.socket.pause();
      client.send(request);
      let octets = 0;
      client.socket.removeAllListeners('data');
      // 600 KiB every 50 ms: the last of it is read seconds after the endpoint has sent it.
      const timer = setInterval(() => {
        const piece: Buffer | null = client.socket.read(614_400) ?? client.socket.read();
        octets += piece?.length ?? 0;
      }, 50);
      await client.untilClosed(20_000);
      clearInterval(timer);
      expect(octets).toBeGreaterThan(content.length);
    },
    30_000,
  );
});

describe('draining', () => {
  it('closes idle connections, answers what is under way with Connection: close, and ends (case 135)', async () => {
    let answer = (): void => undefined;
    const upstream = await upstreamThat(({ socket, heads }) => {
      if (heads === 1) socket.write(OK);
      else answer = () => void socket.write(OK);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const [idle, busy] = [await RawClient.connect(gateway.port), await RawClient.connect(gateway.port)];
    idle.send(GET);
    await idle.until('\r\n\r\nok');
    busy.send(GET);
    await waitFor(() => upstream.received().split('GET /').length === 3, { limitMs: 1000, what: 'the second request' });
    const drained = gateway.drain();
    await idle.untilClosed(5000);
    expect(busy.isClosed).toBe(false);
    answer();
    expect(await busy.untilClosed(3000)).toContain('Connection: close\r\n');
    await drained;
  });
});

// What a client may send, how it is split, and what never passes: over raw sockets, upstream connections kept.
import { describe, expect, it } from 'vitest';
import { exchange, get, RawClient } from '../../support/raw-client.ts';
import { answering, OK, type RawUpstream } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, type NodeUpstream, nodeUpstream, upstreamThat } from '../../support/scene.ts';
import type { TestGatewayOptions } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

/** Sends octets and returns what the client got until the connection was closed or quiet, and what went upstream. */
async function send(octets: string, config: Omit<TestGatewayOptions, 'endpoints'> = {}) {
  const upstream = await upstreamThat(answering(OK));
  const gateway = await gatewayFor({ endpoints: [upstream.port], ...config });
  const client = await RawClient.connect(gateway.port);
  client.send(octets);
  await client.untilClosed(3000).catch(() => undefined);
  client.close();
  return { answer: client.received, upstream };
}

function isRefused(answer: string, status: number): void {
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(answer).toContain('Connection: close\r\n');
}

const EVIL = 'GET /evil HTTP/1.1\r\nHost: s\r\n\r\n';

describe('framing that could be read in two ways', () => {
  const chunks = '3\r\nabc\r\n0\r\n\r\n';

  it.each([
    ['both framings', `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`],
    ['both framings the other way round', `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunks}`],
    ...['', '+3', '-1', '0x3', '3abc', '3 3', '3,3', '3,4', '99999999999999999999', '1e1', '3;', '"3"', '3.0'].map(
      (value): [string, string] => [`the length "${value}"`, `Content-Length: ${value}\r\n\r\nabc`],
    ),
    ['two different lengths', 'Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc'],
    ['two equal lengths', 'Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc'],
    ['an invalid length with chunks', `Content-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`],
    ...[
      'chunked,',
      ',chunked',
      '"chunked"',
      'chunked;a=b',
      'x chunked',
      'chunked, identity',
      'chunked, chunked',
      'identity',
      '\x0bchunked',
      'chunk',
      '',
    ].map((value): [string, string] => [`the coding "${value}"`, `Transfer-Encoding: ${value}\r\n\r\n${chunks}`]),
    ['a space before the colon', `Transfer-Encoding : chunked\r\n\r\n${chunks}`],
    ['a coding on a folded line', `Transfer-Encoding:\r\n chunked\r\n\r\n${chunks}`],
    ['two lines of codings', `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunks}`],
    ['chunks in HTTP/1.0', `Transfer-Encoding: chunked\r\n\r\n${chunks}`, '1.0'],
    ...['3zz', '0x3', '+3', '3 ', ' 3', 'FFFFFFFFFFFFFFFFF', '-1', '', '3\t', '3\n'].map((size): [string, string] => [
      `the chunk size "${size}"`,
      `Transfer-Encoding: chunked\r\n\r\n${size}\r\nabc\r\n0\r\n\r\n`,
    ]),
    ['a bare LF in a chunk extension', 'Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n'],
    ['a bare LF behind a size', 'Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n'],
    ['a bare LF behind a chunk', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n'],
    ['a bare LF in a trailer', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\n\r\n\r\n'],
    ['a huge chunk extension', `Transfer-Encoding: chunked\r\n\r\n3;${'a'.repeat(100_000)}\r\nabc\r\n0\r\n\r\n`],
  ] satisfies [string, string, string?][])(
    'by %s is 400, and nothing behind it is read (cases 144 to 151)',
    async (_what, rest, version = '1.1') => {
      const { answer, upstream } = await send(`POST /x HTTP/${version}\r\nHost: s\r\n${rest}${EVIL}`);
      isRefused(answer, 400);
      expect(upstream.received()).not.toContain('evil');
      for (const { received } of upstream.connections) expect(received).not.toMatch(/\r\n0\r\n\r\n/);
    },
  );

  it('by another coding in front of chunked is 501', async () => {
    const { answer, upstream } = await send(
      `POST /x HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunks}${EVIL}`,
    );
    isRefused(answer, 501);
    expect(upstream.connections).toHaveLength(0);
  });

  it('is made plain where it is only spelt oddly', async () => {
    const { upstream } = await send(
      'POST /x HTTP/1.1\r\nHost: s\r\nConnection: close\r\nTransfer-Encoding: \t cHuNkEd \r\n\r\n0003;x="y"\r\nabc\r\n000\r\n\r\n',
    );
    expect(upstream.received()).toContain('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
    expect(upstream.received()).not.toMatch(/cHuNkEd|x="y"/);
  });
});

describe('a head that breaks the rules', () => {
  it.each([
    ['a bare LF', 'GET / HTTP/1.1\nHost: s\n\n'],
    ['a bare LF behind a field', 'GET / HTTP/1.1\r\nHost: s\nX: y\r\n\r\n'],
    ['a bare CR in a field', 'GET / HTTP/1.1\r\nHost: s\r\nX: a\rb\r\n\r\n'],
    ['a folded line', 'GET / HTTP/1.1\r\nHost: s\r\nX: a\r\n b\r\n\r\n'],
    ['a folded first line (case 153)', 'GET / HTTP/1.1\r\n Host: s\r\n\r\n'],
    ['a hidden length (case 153)', 'GET / HTTP/1.1\r\nHost: s\r\nX-A: 1\r\n Content-Length: 40\r\n\r\n'],
    ['a space before a colon', 'GET / HTTP/1.1\r\nHost: s\r\nX-A : 1\r\n\r\n'],
    ['a NUL in a value', 'GET / HTTP/1.1\r\nHost: s\r\nX: a\x00b\r\n\r\n'],
    ['a control octet in a name', 'GET / HTTP/1.1\r\nHost: s\r\nX\x01: a\r\n\r\n'],
    ['no colon', 'GET / HTTP/1.1\r\nHost: s\r\nXA\r\n\r\n'],
    ['no Host (case 159)', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts (case 159)', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['two equal Hosts (case 159)', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    ...['a b', 'u@a', 'a/x', 'a,b', '', 'a:99999'].map((host): [string, string] => [
      `the Host "${host}" (case 159)`,
      `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ]),
    ['no version', 'GET /\r\nHost: s\r\n\r\n'],
    ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: s\r\n\r\n'],
    ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: s\r\n\r\n'],
    ['a lower-case version', 'GET / http/1.1\r\nHost: s\r\n\r\n'],
    ['two spaces', 'GET  / HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['a tab in the target', 'GET /a\tb HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['a malformed percent sign', 'GET /% HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['a NUL as percent sign is none, but %zz', 'GET /%zz HTTP/1.1\r\nHost: s\r\n\r\n'],
    ...['?a=1', 'http:evil/x', '@evil/x', '.evil/x', '*foo', 'evil', '\\\\evil'].map((target): [string, string] => [
      `the target ${target} (cases 33, 36 and 157)`,
      `GET ${target} HTTP/1.1\r\nHost: s\r\n\r\n`,
    ]),
    ['GET * (case 36)', 'GET * HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n'],
  ] satisfies [string, string][])('by %s is 400', async (_what, octets) => {
    const { answer, upstream } = await send(octets.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(upstream.connections).toHaveLength(0);
  });

  it.each([
    ['a request line of 9 KiB', `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: s\r\n\r\n`, 414],
    ['a request line without an end', `GET /${'a'.repeat(9000)}`, 414],
    ['40 KiB of fields', `GET / HTTP/1.1\r\nHost: s\r\n${`X: ${'a'.repeat(4000)}\r\n`.repeat(10)}\r\n`, 431],
    ['fields without an end', `GET / HTTP/1.1\r\nHost: s\r\n${`X: ${'a'.repeat(4000)}\r\n`.repeat(10)}`, 431],
    ['101 fields', `GET / HTTP/1.1\r\nHost: s\r\n${'X: 1\r\n'.repeat(100)}\r\n`, 431],
  ])('by %s', async (_what, octets, status) => {
    isRefused((await send(octets as string)).answer, status as number);
  });

  it('just within the limits passes', async () => {
    const { answer } = await send(
      `GET /${'a'.repeat(8100)} HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${`X: ${'a'.repeat(324)}\r\n`.repeat(97)}\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a request', () => {
  const whole =
    'POST /split?x=1 HTTP/1.1\r\nHost: s\r\nX-A: \xe9\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;e=f\r\ndefg\r\n0\r\nX-T: 1\r\n\r\n' +
    'PUT /second HTTP/1.1\r\nHost: s\r\nContent-Length: 5\r\n\r\nhello' +
    '\r\nGET /third HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n';

  async function relayed(pieces: readonly string[]): Promise<NodeUpstream['requests']> {
    const service = await nodeUpstream();
    const gateway = await gatewayFor({ endpoints: [service.port] });
    const client = await RawClient.connect(gateway.port);
    for (const piece of pieces) {
      client.send(piece);
      // Each piece is a write of its own; the gateway may read several at once, which is one more way to split.
      await new Promise(setImmediate);
    }
    const answer = await client.untilClosed(10_000);
    if (answer.match(/HTTP\/1\.1 200 OK/g)?.length !== 3) throw new Error(`${JSON.stringify(pieces)} gave ${answer}`);
    return service.requests;
  }

  it('is the same upstream however it is split', async () => {
    const expected = await relayed([whole]);
    expect(expected).toMatchObject([
      { method: 'POST', url: '/split?x=1', content: 'abcdefg', trailers: ['X-T', '1'] },
      { method: 'PUT', url: '/second', content: 'hello' },
      { method: 'GET', url: '/third', content: '' },
    ]);
    expect(expected[0]?.fields).toContain('\xe9');
    expect(await relayed([...whole])).toEqual(expected);
    for (let at = 1; at < whole.length; at++) {
      expect(await relayed([whole.slice(0, at), whole.slice(at)])).toEqual(expected);
    }
  }, 60_000);

  it('waits its turn in a pipeline, and a hundred of them are answered in order', async () => {
    const upstream = await upstreamThat(({ socket }, head) => {
      const path = head.split(' ')[1] ?? '';
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    const paths = Array.from({ length: 100 }, (_, at) => `/p${at}`);
    client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: s\r\n\r\n`).join(''));
    await client.until((text) => text.endsWith('/p99'));
    expect([...client.received.matchAll(/\r\n\r\n(\/p\d+)/g)].map((match) => match[1])).toEqual(paths);
    client.close();
  });

  it('in HTTP/1.0 is answered without chunks or interim responses, and ends its connection', async () => {
    const upstream = await upstreamThat(
      answering(
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      ),
    );
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const answer = await exchange(gateway.port, 'GET / HTTP/1.0\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
    expect(answer).not.toMatch(/transfer-encoding|103/i);
  });

  it('in HTTP/1.0 may keep its connection', async () => {
    const { answer } = await send('GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /2 HTTP/1.0\r\n\r\n');
    expect(answer.match(/200 OK/g)).toHaveLength(2);
    expect(answer).toContain('Connection: keep-alive\r\n');
  });

  it.each([
    ['OPTIONS * (case 36)', 'OPTIONS * HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n', 204],
    [
      'CONNECT (case 37)',
      'CONNECT internal:443 HTTP/1.1\r\nHost: internal:443\r\n\r\nGET / HTTP/1.1\r\nHost: s\r\n\r\n',
      405,
    ],
  ])('%s is answered by the gateway', async (_what, octets, status) => {
    const { answer, upstream } = await send(octets);
    isRefused(answer, status);
    expect(upstream.connections).toHaveLength(0);
  });

  it('OPTIONS of a path goes to the service', async () => {
    expect((await send(get('/p').replace('GET', 'OPTIONS'))).upstream.received()).toContain('OPTIONS /p HTTP/1.1');
  });

  it.each([['//bad?e=a@b'], ['//@'], ['/?'], ['/:@%00'], ['//169.254.169.254/latest'], ['/\\evil/x']])(
    'for %s goes to the pool as it is (cases 33 and 157)',
    async (target) => {
      expect((await send(get(target))).upstream.received()).toContain(`GET ${target} HTTP/1.1\r\n`);
    },
  );

  it.each([
    [
      'h2c (cases 55 and 160)',
      'GET / HTTP/1.1\r\nHost: s\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
    ],
    [
      'foo on a POST (case 55)',
      'POST / HTTP/1.1\r\nHost: s\r\nConnection: Upgrade, close\r\nUpgrade: foo\r\nContent-Length: 2\r\n\r\nhi',
    ],
    [
      'websocket without Connection: upgrade (case 55)',
      'GET / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nUpgrade: websocket\r\n\r\n',
    ],
  ])('that asks for %s is answered as if it had not', async (_what, octets) => {
    const { answer, upstream } = await send(octets);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(upstream.received()).not.toMatch(/upgrade|http2-settings/i);
  });

  it('whose client says its last word first is answered', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.socket.end('GET /1 HTTP/1.1\r\nHost: s\r\n\r\nGET /2 HTTP/1.1\r\nHost: s\r\n\r\n');
    expect((await client.untilClosed()).match(/200 OK/g)).toHaveLength(2);
  });

  it('is limited in its content, announced or not (413)', async () => {
    const route = { body: '10B' };
    const announced = 'POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 11\r\n\r\nhello world';
    isRefused((await send(announced, { route })).answer, 413);
    const chunked = 'POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n5\r\nworld\r\n';
    const { answer, upstream } = await send(chunked, { route });
    isRefused(answer, 413);
    expect(upstream.received()).not.toContain('\r\n0\r\n\r\n');
    const { answer: fits } = await send(
      'POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhelloworld',
      { route },
    );
    expect(fits).toMatch(/^HTTP\/1\.1 200/);
  });
});

describe('a slow client', () => {
  const timeouts = { requestHead: '300ms', requestBody: '300ms', keepAlive: '300ms', write: '300ms' };

  it('that sends its head octet by octet is cut by the total time (case 162)', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [upstream.port], gateway: { timeouts } });
    const client = await RawClient.connect(gateway.port);
    const begun = performance.now();
    const drip = setInterval(() => client.send('a'), 20);
    client.send('GET /');
    const answer = await client.untilClosed(4000);
    clearInterval(drip);
    expect(answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(performance.now() - begun).toBeLessThan(3500);
    expect(upstream.connections).toHaveLength(0);
  });

  it.each([
    ['says nothing', ''],
    ['says nothing after its first answer', 'GET / HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['stops in its content', 'POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 9\r\n\r\nabc'],
  ])('that %s is cut', async (_what, octets) => {
    const upstream = await upstreamThat(({ socket }, head) => {
      if (head.startsWith('GET')) socket.write(OK);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], gateway: { timeouts } });
    const client = await RawClient.connect(gateway.port);
    client.send(octets);
    await client.untilClosed(3000);
    if (octets.startsWith('POST')) await untilFreed(upstream);
  });

  it('that does not read is cut, and the upstream is freed (case 45)', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n`);
      socket.write(Buffer.alloc(30_000_000));
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], gateway: { timeouts } });
    const client = await RawClient.connect(gateway.port);
    client.socket.pause();
    client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    await untilFreed(upstream);
    client.close();
  });
});

describe('a stock node:http service behind the gateway', () => {
  it.each([
    ['GET', '', ''],
    ['GET', 'Content-Length: 3\r\n', 'abc'],
    ['GET', 'Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'],
    ['POST', 'Content-Length: 3\r\n', 'abc'],
    ['POST', 'Transfer-Encoding: chunked\r\n', '1\r\na\r\n2\r\nbc\r\n0\r\n\r\n'],
    ['DELETE', 'Content-Length: 3\r\n', 'abc'],
    ['PATCH', 'Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'],
    ['POST', 'Expect: 100-continue\r\nContent-Length: 3\r\n', 'abc'],
  ])('gets each %s with %j exactly once, request after request', async (method, framing, content) => {
    const service = await nodeUpstream();
    const gateway = await gatewayFor({ endpoints: [service.port] });
    const client = await RawClient.connect(gateway.port);
    for (let at = 1; at <= 5; at++) {
      client.send(`${method} /n${at} HTTP/1.1\r\nHost: s\r\n${framing}\r\n${content}`);
      await client.until((text) => text.split('200 OK').length === at + 1);
    }
    client.close();
    const wanted = content === '' ? '' : 'abc';
    expect(service.requests).toMatchObject([1, 2, 3, 4, 5].map((at) => ({ method, url: `/n${at}`, content: wanted })));
  });
});

async function untilFreed(upstream: RawUpstream): Promise<void> {
  await waitFor(() => upstream.connections.length > 0 && upstream.open() === 0, {
    limitMs: 4000,
    what: 'the upstream connection to be freed',
  });
}

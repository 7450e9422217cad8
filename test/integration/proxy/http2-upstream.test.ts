// Requests of HTTP/1.1 clients that go to an HTTP/2 endpoint, and its answers on their way back.
import { request } from 'node:http';
import { constants } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { endHttp2EndpointsAfterEach, http2Endpoint } from '../../support/http2-endpoint.ts';
import { CODE, content, headers, reset } from '../../support/http2-frames.ts';
import { exchange, RawClient } from '../../support/raw-client.ts';
import { endRawHttp2EndpointsAfterEach, onRequest, rawHttp2Endpoint } from '../../support/raw-http2-endpoint.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { send } from '../../support/send.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2EndpointsAfterEach();
endRawHttp2EndpointsAfterEach();

const H2C = { protocol: 'h2c' };

describe('a request to an HTTP/2 endpoint', () => {
  it('has its fields in a header list, without those of the HTTP/1.1 connection', async () => {
    const endpoint = await http2Endpoint((stream) => {
      stream.respond({ ':status': 200 });
      stream.end('ok');
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    await exchange(
      gateway.port,
      'GET /a?b=%20c HTTP/1.1\r\nHost: shop.example\r\nX-A: 1\r\nX-A: 2\r\nConnection: x-mine, close\r\n' +
        'X-Mine: 1\r\nKeep-Alive: timeout=5\r\nUpgrade: h2c\r\nTE: gzip\r\n\r\n',
    );
    const [fields] = endpoint.requests;
    expect(fields).toMatchObject({
      ':method': 'GET',
      ':scheme': 'http',
      ':authority': 'shop.example',
      ':path': '/a?b=%20c',
      'x-a': '1, 2',
      'x-forwarded-host': 'shop.example',
      via: '1.1 weir',
    });
    for (const name of ['host', 'connection', 'x-mine', 'keep-alive', 'upgrade', 'te']) {
      expect(fields).not.toHaveProperty(name);
    }
  });

  it('says that it takes trailers if its client does', async () => {
    const endpoint = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    await send(`http://127.0.0.1:${gateway.port}/`, { headers: { te: 'deflate, Trailers', connection: 'TE' } });
    expect(endpoint.requests[0]).toMatchObject({ te: 'trailers' });
  });

  it('of HTTP/1.0 without a host is one to the address of the endpoint', async () => {
    const endpoint = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    expect(await exchange(gateway.port, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 204 /);
    expect(endpoint.requests[0]).toMatchObject({ ':authority': `127.0.0.1:${endpoint.port}` });
  });

  it('takes content of any length there, and the answer back', async () => {
    const endpoint = await http2Endpoint((stream, fields) => {
      stream.respond({ ':status': 200, 'x-length': fields['content-length'] ?? 'none' });
      stream.pipe(stream);
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    for (const length of [0, 1, 65_535, 65_536, 3_000_000]) {
      const body = 'x'.repeat(length);
      const answer = await send(`http://127.0.0.1:${gateway.port}/`, { method: 'POST', body });
      expect(answer.status).toBe(200);
      expect(answer.headers['x-length']).toBe(String(length));
      expect(answer.body === body).toBe(true);
    }
    expect(endpoint.sessions).toHaveLength(1);
    expect(gateway.connections().upstream).toBe(1);
  });

  it('has the trailers that its client announced', async () => {
    let trailers: unknown;
    const endpoint = await http2Endpoint((stream) => {
      stream.on('trailers', (received) => {
        trailers = received;
      });
      stream.on('end', () => stream.respond({ ':status': 204 }, { endStream: true }));
      stream.resume();
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    await exchange(
      gateway.port,
      'POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: close\r\n\r\n' +
        '2\r\nab\r\n0\r\nX-Sum: 7\r\nX-Sum: 8\r\n\r\n',
    );
    expect(trailers).toMatchObject({ 'x-sum': '7, 8' });
  });

  it('whose client leaves is reset with CANCEL, and the connection goes on', async () => {
    const codes: number[] = [];
    const endpoint = await http2Endpoint((stream, fields) => {
      stream.on('close', () => codes.push(stream.rstCode));
      if (fields[':path'] === '/') stream.respond({ ':status': 204 }, { endStream: true });
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const client = await RawClient.connect(gateway.port);
    client.send('GET /slow HTTP/1.1\r\nHost: s\r\n\r\n');
    await waitFor(() => endpoint.requests.length === 1, { limitMs: 2000, what: 'the request' });
    client.close();
    await waitFor(() => codes.length === 1, { limitMs: 2000, what: 'the reset' });
    expect(codes).toEqual([constants.NGHTTP2_CANCEL]);
    expect((await send(`http://127.0.0.1:${gateway.port}/`)).status).toBe(204);
    expect(endpoint.sessions).toHaveLength(1);
  });

  it('that waits to be asked for its content is asked by the endpoint', async () => {
    const endpoint = await http2Endpoint((stream, fields) => {
      if (fields.expect === '100-continue') stream.additionalHeaders({ ':status': 100 });
      stream.respond({ ':status': 200 });
      stream.pipe(stream);
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
    await client.until('HTTP/1.1 100 Continue\r\n\r\n', 2000);
    client.send('hello');
    await client.until('hello', 2000);
    client.close();
  });

  it('that asks for a WebSocket goes as an ordinary one', async () => {
    const endpoint = await http2Endpoint((stream) => stream.respond({ ':status': 426 }, { endStream: true }));
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answer = await exchange(
      gateway.port,
      'GET / HTTP/1.1\r\nHost: s\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 426 /);
  });
});

describe('an answer of an HTTP/2 endpoint', () => {
  it('has its fields one by one, a reason, chunks, and trailers', async () => {
    const endpoint = await http2Endpoint((stream) => {
      stream.respond({ ':status': 200, 'set-cookie': ['a=1', 'b=2'], 'x-text': 'caf\xe9' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }));
      stream.end('hello');
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answer = await exchange(gateway.port, 'GET / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('set-cookie: a=1\r\nset-cookie: b=2\r\nx-text: caf\xe9\r\n');
    expect(answer).toContain('Transfer-Encoding: chunked\r\n');
    expect(answer.endsWith('5\r\nhello\r\n0\r\nx-sum: 7\r\n\r\n')).toBe(true);
  });

  it.each([
    ['without content', 'GET', { ':status': 200 }, /content-length: 0\r\n[\s\S]*\r\n\r\n$/],
    ['to HEAD', 'HEAD', { ':status': 200, 'content-length': '1234' }, /content-length: 1234\r\n[\s\S]*\r\n\r\n$/],
    ['of 304', 'GET', { ':status': 304, 'content-length': '500' }, /content-length: 500\r\n[\s\S]*\r\n\r\n$/],
    ['of 204', 'GET', { ':status': 204 }, /^HTTP\/1\.1 204 No Content\r\n[\s\S]*\r\n\r\n$/],
  ])('%s ends with its head', async (_what, method, fields, wanted) => {
    const endpoint = await http2Endpoint((stream) => stream.respond(fields, { endStream: true }));
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answer = await exchange(gateway.port, `${method} / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(wanted);
    expect(answer).not.toContain('chunked');
  });

  it('is preceded by its interim responses', async () => {
    const endpoint = await http2Endpoint((stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' });
      stream.respond({ ':status': 200, 'content-length': '2' });
      stream.end('ok');
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answer = await exchange(gateway.port, 'GET / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nlink: <\/a\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it('comes before the request is whole, and both go on', async () => {
    const endpoint = await http2Endpoint((stream) => {
      stream.respond({ ':status': 200 });
      stream.on('data', (octets: Buffer) => stream.write(`[${octets.toString()}]`));
      stream.on('end', () => stream.end());
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n');
    await client.until('\r\n\r\n', 2000);
    for (const text of ['one', 'two']) {
      client.send(`3\r\n${text}\r\n`);
      await client.until(`[${text}]`, 2000);
    }
    client.send('0\r\n\r\n');
    await client.until('0\r\n\r\n', 2000);
    client.close();
  });

  it('that is whole before the request is arrives, also when the rest is refused by a reset (RFC 9113 8.1)', async () => {
    const endpoint = await http2Endpoint((stream) => {
      stream.respond({ ':status': 413, 'content-length': '3' });
      stream.end('big');
      stream.on('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 1000\r\n\r\nhello');
    expect(await client.until('big', 2000)).toMatch(/^HTTP\/1\.1 413 /);
    client.close();
    await waitFor(() => gateway.records.length === 1, { limitMs: 2000, what: 'the record' });
    expect(gateway.records[0]).toMatchObject({ status: 413, error: null });
  });

  it.each([
    ['NO_ERROR', CODE.none],
    ['CANCEL', CODE.cancel],
    ['INTERNAL_ERROR', CODE.internal],
  ])('that is reset with %s on its way never looks complete (cases 12 and 13)', async (_what, code) => {
    const head = [[':status', '200']] as const;
    const endpoint = await rawHttp2Endpoint(
      onRequest((id) => [headers(id, head, 0), content(id, 'hello', 0), reset(id, code)]),
    );
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const client = await RawClient.connect(gateway.port);
    client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    expect(await client.untilClosed(2000)).not.toContain('\r\n0\r\n\r\n');
    await waitFor(() => gateway.records.length === 1, { limitMs: 2000, what: 'the record' });
    expect(gateway.records[0]?.attempts).toHaveLength(1);
    expect(endpoint.connections[0]?.socket.destroyed).toBe(false);
  });

  it('without content whose octets break the protocol is a bad gateway', async () => {
    const endpoint = await rawHttp2Endpoint(
      onRequest((id) => [
        headers(id, [
          [':status', '200'],
          ['Upper-Case', '1'],
        ]),
      ]),
    );
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`);
    expect(answer.status).toBe(502);
    expect(answer.headers['proxy-status']).toContain('http_protocol_error');
  });

  it('is read no faster than the client reads it, and others on the connection are not held up', async () => {
    let written = 0;
    const endpoint = await http2Endpoint((stream, fields) => {
      stream.respond({ ':status': 200 });
      if (fields[':path'] !== '/flood') {
        stream.end('ok');
        return;
      }
      const piece = Buffer.alloc(65_536, 'x');
      const write = (): void => {
        while (written < 100_000_000) {
          written += piece.length;
          if (!stream.write(piece)) return;
        }
      };
      stream.on('drain', write);
      write();
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const call = request({ port: gateway.port, host: '127.0.0.1', path: '/flood', agent: false });
    call.on('response', (response) => response.pause());
    call.on('error', () => undefined);
    call.end();
    let before = -1;
    await waitFor(
      () => {
        const isStill = written === before && written > 0;
        before = written;
        return isStill;
      },
      { limitMs: 10_000, what: 'the endpoint to stop' },
    );
    expect(written).toBeLessThan(60_000_000);
    expect((await send(`http://127.0.0.1:${gateway.port}/`)).body).toBe('ok');
    expect(endpoint.sessions).toHaveLength(1);
    call.destroy();
  });
});

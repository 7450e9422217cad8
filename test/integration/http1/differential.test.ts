// What the codec accepts, Node's own parser accepts with the same meaning and the same ends.
import { describe, expect, it } from 'vitest';
import { compareRequests, compareResponse, fuzz } from '../../support/http-differential.ts';
import { NodeRequestReader } from '../../support/http-node-reading.ts';

const INPUTS = 2000;
/** Another one for each run; WEIR_FUZZ_SEED repeats one. */
const SEED = Number(process.env.WEIR_FUZZ_SEED ?? Date.now() % 2 ** 31);

const node = new NodeRequestReader();

function octets(text: string): Buffer[] {
  return [Buffer.from(text, 'latin1')];
}

/** A request, and one behind it that must be seen where the first one ends, or not at all. */
function comparePost(lines: string, content: string, version = '1.1') {
  const next = 'GET /next HTTP/1.1\r\nHost: s\r\n\r\n';
  return compareRequests(octets(`POST / HTTP/${version}\r\nHost: s\r\n${lines}\r\n${content}${next}`), node);
}

describe('spoilt messages', () => {
  it(`are accepted only with the meaning that Node finds in them (seed ${SEED})`, async () => {
    process.stdout.write(`differential: seed ${SEED}\n`);
    const { counts, differences } = await fuzz({ inputs: INPUTS, seed: SEED });
    expect(differences).toEqual([]);
    // The inputs are worth something only if many of them are accepted and many refused.
    const share = (outcome: RegExp) =>
      [...counts].reduce((sum, [key, count]) => sum + (outcome.test(key) ? count : 0), 0) / INPUTS;
    expect(share(/^request, the same/)).toBeGreaterThan(0.1);
    expect(share(/^response, the same/)).toBeGreaterThan(0.1);
    expect(share(/refused by both/)).toBeGreaterThan(0.2);
  });
});

describe('requests that parsers are known to disagree about', () => {
  const LENGTH = 'Content-Length: 4\r\n';
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  const CHUNKS = '3\r\nabc\r\n0\r\n\r\n';

  const CODINGS = [
    'chunked,',
    ',chunked',
    '"chunked"',
    'chunked;a=b',
    'x chunked',
    'chunked, identity',
    'identity, chunked',
  ];
  const LENGTHS = ['', '+3', '-1', '0x3', '3abc', '3 3', '3,3', '3,4', '1e1', '9'.repeat(20)];
  const SIZES = ['3zz', '0x3', '+3', '3 ', ' 3', 'FFFFFFFFFFFFFFFFF', '-1', '', '3\t', '3;a\nb', '3\n', '3;', '3;a="'];
  const REFUSED: readonly (readonly [lines: string, content: string])[] = [
    [`${LENGTH}${CHUNKED}`, CHUNKS],
    [`${CHUNKED}${LENGTH}`, CHUNKS],
    [`${CHUNKED}${CHUNKED}`, CHUNKS],
    ...CODINGS.map((coding) => [`Transfer-Encoding: ${coding}\r\n`, CHUNKS] as const),
    ...CODINGS.map((coding) => [`Transfer-Encoding: ${coding}\r\n${LENGTH}`, CHUNKS] as const),
    ['Transfer-Encoding : chunked\r\n', CHUNKS],
    ['Transfer-Encoding:\x0bchunked\r\n', CHUNKS],
    ...LENGTHS.map((length) => [`Content-Length: ${length}\r\n`, 'abc'] as const),
    ['Content-Length: 3\r\nContent-Length: 3\r\n', 'abc'],
    ['Content-Length: 3\r\nContent-Length: 4\r\n', 'abc'],
    ['X-A: 1\r\n Content-Length: 40\r\n', ''],
    ...SIZES.map((size) => [CHUNKED, `${size}\r\nabc\r\n0\r\n\r\n`] as const),
    [CHUNKED, '3\r\nabc\n0\r\n\r\n'],
    ['Host: s\r\n', ''],
  ];

  it.each(REFUSED)('are refused: %j before %j (cases 144 to 159)', async (lines, content) => {
    const { outcome, difference } = await comparePost(lines, content);
    expect([outcome, difference]).toEqual([expect.stringContaining('refused by '), null]);
  });

  it('are refused: chunks in HTTP/1.0 (case 147)', async () => {
    const { outcome, difference } = await comparePost(CHUNKED, CHUNKS, '1.0');
    expect([outcome, difference]).toEqual(['refused by both: transfer encoding in HTTP/1.0', null]);
  });

  it.each([
    ['Transfer-Encoding: Chunked \r\n', CHUNKS],
    [CHUNKED, '03;foo=bar\r\nabc\r\n00\r\nX-Sum: 1\r\n\r\n'],
    ['Content-Length:\t3\r\n', 'abc'],
    ['Transfer_Encoding: chunked\r\n', ''],
    ['', '\r\n\r\n'],
  ])('are read as Node reads them: %j before %j', async (lines, content) => {
    expect(await comparePost(lines, content)).toEqual({ outcome: 'the same', difference: null });
  });
});

describe('a difference that is allowed', () => {
  it.each([
    ['a method that is not on the list of Node', 'BREW / HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['raw obs-text in a target', 'GET /caf\xe9 HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['a target that does not begin with a slash, which the proxy judges', 'GET ?a HTTP/1.1\r\nHost: s\r\n\r\n'],
    ['a tab behind the transfer coding', 'PUT / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n'],
    ['blanks in a chunk extension', 'PUT / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n0; a\r\n\r\n'],
    [
      'a field about framing or the connection in the trailers',
      'PUT / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 3\r\n\r\n',
    ],
  ])('still exists in requests: %s', async (reason, text) => {
    expect(await compareRequests(octets(text), node)).toEqual({ outcome: `allowed: ${reason}`, difference: null });
  });

  it('still exists in responses: an interim response that says close', async () => {
    const text = 'HTTP/1.1 103 X\r\nConnection: close\r\n\r\nHTTP/1.1 204 X\r\n\r\n';
    const outcome = 'allowed: an interim response that says close';
    expect(await compareResponse(octets(text), 'GET')).toEqual({ outcome, difference: null });
  });
});

describe('responses', () => {
  it.each([
    ['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello', 'GET', 'cut short in length content, noticed by both'],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
      'GET',
      'cut short in chunked content, noticed by both',
    ],
    ['HTTP/1.1 200 OK\r\nContent-', 'GET', 'cut short in a head, noticed by both'],
    ['', 'GET', 'cut short in a head, noticed by both'],
    ['HTTP/1.1 200 OK\r\n\r\nhello', 'GET', 'the same'],
    ['HTTP/1.0 200 OK\r\n\r\nhello', 'GET', 'the same'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n', 'HEAD', 'the same'],
    ['HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n', 'GET', 'the same'],
    ['HTTP/1.1 103 X\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'GET', 'the same'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 EVIL\r\n\r\n', 'GET', 'the same'],
    ['NOT HTTP\r\n\r\n', 'GET', 'refused by both: unknown version'],
    ['HTTP/1.1 99 X\r\n\r\n', 'GET', 'refused by both: malformed status line'],
  ])('end for us where they end for Node: %j to %s (cases 9 to 16, 27, 39, 60)', async (text, method, outcome) => {
    expect(await compareResponse(octets(text), method)).toEqual({ outcome, difference: null });
  });
});

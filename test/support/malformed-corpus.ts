// Requests that break a rule, as users of other gateways have reported them; none of them may reach a service.

const EVIL = 'GET /evil HTTP/1.1\r\nHost: s\r\n\r\n';

/** Messages that must be refused as a whole, and so must all that follows on their connection. */
export const MALFORMED: readonly string[] = [
  // Case 144: two framings.
  `POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n${EVIL}`,
  `POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n3\r\nabc\r\n0\r\n\r\n${EVIL}`,
  // Case 145: transfer codings that hide.
  ...[
    'x chunked',
    '"chunked"',
    'chunked;a=b',
    'chunked, identity',
    'chunked, chunked',
    '\x0bchunked',
    'gzip, chunked',
    'identity',
    '',
  ].map((value) => `POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: ${value}\r\n\r\n0\r\n\r\n${EVIL}`),
  `POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${EVIL}`,
  // Case 147: transfer codings before HTTP/1.1.
  `POST / HTTP/1.0\r\nHost: s\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n${EVIL}`,
  `POST / HTTP/1.0\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${EVIL}`,
  // Case 148: lengths that are none.
  ...['', '+3', '-1', '0x3', '3abc', '3 3', '3,4', '99999999999999999999', '1e1', '3;'].map((value) => {
    return `POST / HTTP/1.1\r\nHost: s\r\nContent-Length: ${value}\r\n\r\nabc${EVIL}`;
  }),
  `POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc${EVIL}`,
  // Cases 150 and 151: chunks.
  ...['3zz', '0x3', '+3', ' 3', 'FFFFFFFFFFFFFFFFF', '-1', '', '3;a\nb', '3\nabc', `3;${'x'.repeat(100_000)}`].map(
    (line) => {
      return `POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n${line}\r\nabc\r\n0\r\n\r\n${EVIL}`;
    },
  ),
  `POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n${EVIL}`,
  // Case 153: folded and prefixed lines.
  `GET / HTTP/1.1\r\n Host: s\r\n\r\n${EVIL}`,
  `GET / HTTP/1.1\r\nHost: s\r\nX-A: 1\r\n Content-Length: 40\r\n\r\n${EVIL}`,
  `POST / HTTP/1.1\r\nHost: s\r\nContent-Length : 3\r\n\r\nabc${EVIL}`,
  // Case 159: hosts.
  `GET / HTTP/1.1\r\n\r\n${EVIL}`,
  ...['a\r\nHost: b', 'a\r\nHost: a', 'a b', 'u@a', 'a/x', 'a,b', 'a:99999'].map((host) => {
    return `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n${EVIL}`;
  }),
  // Line ends, versions, control octets, and what is no HTTP/1.
  `GET / HTTP/1.1\nHost: s\n\n${EVIL}`,
  `GET / HTTP/1.1\r\nHost: s\r\nX: a\rb\r\n\r\n${EVIL}`,
  `GET / HTTP/1.1\r\nHost: s\r\nX: a\x00b\r\n\r\n${EVIL}`,
  `GET / HTTP/1.1\r\nHost: s\r\nX\x7f: a\r\n\r\n${EVIL}`,
  `GET / HTTP/9.9\r\nHost: s\r\n\r\n${EVIL}`,
  `GET /\r\n\r\n${EVIL}`,
  `G\x01T / HTTP/1.1\r\nHost: s\r\n\r\n${EVIL}`,
  `GET /%zz\x00 HTTP/1.1\r\nHost: s\r\n\r\n${EVIL}`,
  `GET ?a=1 HTTP/1.1\r\nHost: s\r\n\r\n${EVIL}`,
  `CONNECT internal:443 HTTP/1.1\r\nHost: internal:443\r\n\r\n${EVIL}`,
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  // Limits.
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: s\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: s\r\n${'X: y\r\n'.repeat(500)}\r\n`,
  `GET / HTTP/1.1\r\nHost: s\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
];

/** Messages that are odd but may be answered, and beginnings of messages whose rest never comes. */
export const ODD: readonly string[] = [
  'GET //169.254.169.254/latest HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n',
  'GET /\\\\other/x HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n',
  'GET //@ HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n',
  'GET * HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: s\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: foo\r\nContent-Length: 3\r\n\r\nabc',
  'GET / HTTP/1.1\r\nHost: s\r\nUpgrade: websocket\r\nConnection: close\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: s\r\nConnection: close, X-Forwarded-For, Host, Content-Length\r\nContent-Length: 3\r\n\r\nabc',
  `GET / HTTP/1.1\r\nHost: s\r\nX-Forwarded-For: ${'1.1.1.1, '.repeat(1000)}1\r\nConnection: close\r\n\r\n`,
  'GET / HTTP/1.1\r\nHost: s\r\nX-Name: caf\xe9\xff\r\nConnection: close\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 1000\r\n\r\nabc',
  'POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
  'POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 20000000\r\nExpect: 100-continue\r\n\r\n',
  'GET /unfinished HT',
  'G',
  '',
];

// Makes HTTP/1 messages that are valid by construction, as Latin-1 text, from seeded chance.
import { METHODS } from 'node:http';
import type { SeededRandom } from './seeded-random.ts';

const COMMON_METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const PATH_PIECES = [
  '/',
  '//',
  'a',
  'orders',
  '..',
  '.',
  '%20',
  '%2F',
  '%zz',
  '~',
  ';x=1',
  '@',
  ':',
  '\\',
  '"',
  '|',
  '{}',
  '^',
];
const NAMES = [
  'X-A',
  'x-b',
  'Accept',
  'Cookie',
  'User-Agent',
  'x_y',
  '!#$%&',
  'A',
  'ETag',
  'Content-Type',
  'Via',
  'X-Hop',
];
const VALUES = [
  '',
  '1',
  'a b',
  'a\tb',
  'caf\xe9',
  '"q, r"',
  'a:b',
  'chunked',
  'close',
  '\xff\x80',
  '0'.repeat(60),
  ',',
];
const BLANKS = ['', ' ', ' ', ' ', '\t', '  ', ' \t '];
const CONNECTIONS = [
  'close',
  'keep-alive',
  'Keep-Alive',
  'X-Hop',
  'keep-alive, X-Hop',
  'close, x',
  'TE',
  '',
  'upgrade',
  ', ,',
];
const EXTENSIONS = ['', '', '', '', ';a', ';a=b', ';a="b c"', ';a;b="\\"\\\\"', '; a = b', ';a="caf\xe9"'];
const TRAILER_NAMES = ['X-Sum', 'x-late', 'ETag', 'Host'];
const STATUSES = [200, 200, 200, 201, 204, 206, 301, 304, 400, 404, 429, 500, 503, 599, 999];
const REASONS = [' OK', ' Not Found', ' ', '', ' caf\xe9', '  a  b ', ' 200'];
/** Content that looks like the end, or the beginning, of a message. */
const CONTENTS = [
  '',
  'abc',
  '\r\n\r\n',
  '0\r\n\r\n',
  'GET /evil HTTP/1.1\r\nHost: e\r\n\r\n',
  '\x00\xff\n',
  'x'.repeat(300),
];

/** One to three requests, one behind the other. */
export function randomRequests(random: SeededRandom): string {
  let stream = random.percent(5) ? '\r\n'.repeat(1 + random.below(2)) : '';
  for (let left = 1 + random.below(3); left > 0; left--) stream += randomRequest(random);
  return stream;
}

export interface RandomResponse {
  /** The method of the request that is answered. */
  readonly method: string;
  readonly stream: string;
}

/** Interim responses, if any, and a final one; now and then cut short or with octets behind it. */
export function randomResponse(random: SeededRandom): RandomResponse {
  const method = random.pick(['GET', 'GET', 'GET', 'POST', 'HEAD', 'OPTIONS']);
  let stream = '';
  while (random.percent(10)) {
    stream += head(random, `HTTP/1.1 ${random.pick([100, 102, 103])}${random.pick(REASONS)}`, []);
  }
  stream += finalResponse(random, method);
  if (random.percent(5)) stream += random.pick(['HTTP/1.1 200 OK\r\n\r\n', 'x', '\r\n']);
  if (random.percent(15)) stream = stream.slice(0, random.below(stream.length));
  return { method, stream };
}

/** A whole message in the chunked coding. */
export function randomChunks(random: SeededRandom): string {
  let stream = '';
  for (let left = random.below(4); left > 0; left--) {
    const content = random.pick(CONTENTS);
    if (content !== '') stream += `${size(random, content.length)}${random.pick(EXTENSIONS)}\r\n${content}\r\n`;
  }
  const last = `${size(random, 0)}${random.pick(EXTENSIONS)}\r\n`;
  let trailers = '';
  while (random.percent(15)) trailers += line(random, random.pick(TRAILER_NAMES), random.pick(VALUES));
  return `${stream}${last}${trailers}\r\n`;
}

function randomRequest(random: SeededRandom): string {
  const method = random.percent(5) ? random.pick(METHODS) : random.pick(COMMON_METHODS);
  const minor = random.percent(8) ? 0 : 1;
  const special = [line(random, anyCase(random, 'Host'), random.pick(['a', 'a:80', '[::1]', 'x.example.com']))];
  const content = delimited(random, special, minor);
  if (random.percent(15)) special.push(line(random, 'Expect', '100-continue'));
  if (random.percent(2)) special.push(line(random, 'Upgrade', random.pick(['websocket', 'h2c'])));
  return head(random, `${method} ${randomTarget(random)} HTTP/1.${minor}`, special) + content;
}

function finalResponse(random: SeededRandom, method: string): string {
  const status = random.pick(STATUSES);
  const minor = random.percent(10) ? 0 : 1;
  const special: string[] = [];
  const content = delimited(random, special, minor);
  const isWithout = method === 'HEAD' || status === 204 || status === 304;
  const text = special.length === 0 && !isWithout ? random.pick(CONTENTS) : content;
  return head(random, `HTTP/1.${minor} ${status}${random.pick(REASONS)}`, special) + (isWithout ? '' : text);
}

/** Content with the field that delimits it, which is put to `special`; often none. */
function delimited(random: SeededRandom, special: string[], minor: number): string {
  const kind = random.below(3);
  if (kind === 0) return '';
  if (kind === 1 && minor === 1) {
    special.push(line(random, anyCase(random, 'Transfer-Encoding'), random.pick(['chunked', 'chunked', 'Chunked'])));
    return randomChunks(random);
  }
  const content = random.pick(CONTENTS);
  const zeros = random.percent(5) ? '00' : '';
  special.push(line(random, anyCase(random, 'Content-Length'), `${zeros}${content.length}`));
  return content;
}

function head(random: SeededRandom, firstLine: string, special: readonly string[]): string {
  const lines = [...special];
  if (random.percent(25)) lines.push(line(random, anyCase(random, 'Connection'), random.pick(CONNECTIONS)));
  for (let left = random.below(6); left > 0; left--) {
    const added = line(random, random.pick(NAMES), random.pick(VALUES));
    lines.splice(random.below(lines.length + 1), 0, added);
  }
  return `${firstLine}\r\n${lines.join('')}\r\n`;
}

function line(random: SeededRandom, name: string, value: string): string {
  return `${name}:${random.pick(BLANKS)}${value}${random.percent(10) ? random.pick(BLANKS) : ''}\r\n`;
}

function size(random: SeededRandom, octets: number): string {
  const hex = octets.toString(16);
  return `${random.percent(10) ? '00' : ''}${random.percent(30) ? hex.toUpperCase() : hex}`;
}

function randomTarget(random: SeededRandom): string {
  if (random.percent(3)) return random.pick(['*', 'http://a/b?c', 'http://a', 'HTTP://a:80/', 'https://[::1]/x']);
  let target = '/';
  for (let left = random.below(5); left > 0; left--) target += random.pick(PATH_PIECES);
  return random.percent(20) ? `${target}?q=${random.pick(['', '1', 'a&b', '?', '%26', "'"])}` : target;
}

function anyCase(random: SeededRandom, name: string): string {
  return random.pick([name, name, name, name.toLowerCase(), name.toUpperCase()]);
}

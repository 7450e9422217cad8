// Spoils the text of HTTP/1 messages in the ways that parsers are known to disagree about.
import type { SeededRandom } from './seeded-random.ts';

type Mutation = (text: string, random: SeededRandom) => string;

const CONTROLS = [
  '\x00',
  '\x01',
  '\x08',
  '\t',
  '\n',
  '\x0b',
  '\x0c',
  '\r',
  '\x1f',
  '\x7f',
  '\x80',
  '\x85',
  '\xa0',
  '\xff',
];
const DELIMITERS = [
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '=',
  '"',
  '\\',
  '/',
  '\r',
  '\n',
  '\r\n',
  '0',
  '1',
  'a',
  'x',
  '-',
  '+',
  '_',
];
const LINE_ENDS = [
  '\n',
  '\r',
  '\n\r',
  '\r\r\n',
  '\r\n\n',
  '\r\n ',
  '\r\n\t',
  ' \r\n',
  '\t\r\n',
  '\r\n\r\n',
  '',
  '\x00\r\n',
];
/** Lines and parts of lines that decide about framing, right and wrong. */
const SNIPPETS = [
  [
    'Content-Length: 3\r\n',
    'Content-Length: 0\r\n',
    'Content-Length:\r\n',
    'Content-Length: +3\r\n',
    'Content-Length: 3, 3\r\n',
  ],
  [
    'Content-Length : 3\r\n',
    ' Content-Length: 3\r\n',
    'Content_Length: 3\r\n',
    'Content-Length: 0x3\r\n',
    'Content-Length\r\n',
  ],
  ['Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip, chunked\r\n', 'Transfer-Encoding: identity\r\n'],
  ['Transfer-Encoding:\x0bchunked\r\n', 'Transfer-Encoding: chunked, identity\r\n', 'Transfer-Encoding :chunked\r\n'],
  ['Transfer-Encoding:\r\n chunked\r\n', 'Transfer_Encoding: chunked\r\n', 'Transfer-Encoding: "chunked"\r\n'],
  [
    'Host: b\r\n',
    'Host:\r\n',
    'Connection: close\r\n',
    'Connection: keep-alive\r\n',
    'Upgrade: x\r\n',
    ': x\r\n',
    'x\r\n',
  ],
  [
    ' HTTP/1.1',
    ' HTTP/1.0',
    ' HTTP/2.0',
    ' HTTP/0.9',
    'HTTP/1.1 200 OK\r\n',
    'GET / HTTP/1.1\r\n',
    '\r\n\r\n',
    '0\r\n\r\n',
  ],
  [
    '3zz',
    '0x3',
    '+3',
    '-1',
    ' 3',
    '3 ',
    '3\t',
    'FFFFFFFFFFFFFFFFF',
    '3;a\nb',
    ';a="\r\n',
    ';',
    ';=',
    'chunked,',
    ',chunked',
  ],
].flat();

const MUTATIONS: readonly Mutation[] = [
  (text, random) => splice(text, random, 0, octet(random)),
  (text, random) => splice(text, random, 1 + random.below(3), ''),
  (text, random) => splice(text, random, 1, octet(random)),
  (text, random) => splice(text, random, 0, random.pick(CONTROLS)),
  (text, random) => splice(text, random, 0, random.pick(SNIPPETS)),
  (text, random) => spliceLine(text, random, random.pick(SNIPPETS)),
  (text, random) => onLines(text, random, (lines, at) => lines.splice(at, 0, lines[at] ?? '')),
  (text, random) => onLines(text, random, (lines, at) => lines.splice(at, 1)),
  swapLines,
  changeLineEnd,
  changeCase,
  changeDigit,
  (text, random) => text.slice(0, random.below(text.length + 1)),
];

/** Spoils a text in up to four places; not at all now and then. */
export function mutate(text: string, random: SeededRandom): string {
  let spoilt = text;
  for (let left = random.below(5); left > 0; left--) spoilt = random.pick(MUTATIONS)(spoilt, random);
  return spoilt;
}

/** Cuts octets into up to `most` pieces of any size; some may be empty. */
export function cut(octets: Buffer, random: SeededRandom, most: number): Buffer[] {
  const places = Array.from({ length: random.below(most) }, () => random.below(octets.length + 1));
  return cutAt(octets, places);
}

export function cutAt(octets: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.toSorted((one, other) => one - other), octets.length];
  return sorted.slice(1).map((end, at) => octets.subarray(sorted[at], end));
}

function octet(random: SeededRandom): string {
  const kind = random.below(3);
  if (kind === 0) return random.pick(CONTROLS);
  return kind === 1 ? random.pick(DELIMITERS) : String.fromCharCode(random.below(256));
}

function splice(text: string, random: SeededRandom, removed: number, added: string): string {
  const at = random.below(text.length + 1);
  return text.slice(0, at) + added + text.slice(at + removed);
}

function spliceLine(text: string, random: SeededRandom, added: string): string {
  return onLines(text, random, (lines, at) => lines.splice(at, 0, added));
}

function onLines(text: string, random: SeededRandom, change: (lines: string[], at: number) => void): string {
  const lines = text.split(/(?<=\r\n)/);
  change(lines, random.below(lines.length));
  return lines.join('');
}

function swapLines(text: string, random: SeededRandom): string {
  return onLines(text, random, (lines, at) => {
    const other = random.below(lines.length);
    [lines[at], lines[other]] = [lines[other] ?? '', lines[at] ?? ''];
  });
}

function changeLineEnd(text: string, random: SeededRandom): string {
  return onLines(text, random, (lines, at) => {
    lines[at] = (lines[at] ?? '').replace('\r\n', () => random.pick(LINE_ENDS));
  });
}

function changeCase(text: string, random: SeededRandom): string {
  const at = random.below(text.length + 1);
  const end = at + 1 + random.below(8);
  const part = text.slice(at, end);
  return text.slice(0, at) + (random.percent(50) ? part.toUpperCase() : part.toLowerCase()) + text.slice(end);
}

function changeDigit(text: string, random: SeededRandom): string {
  const places = [...text.matchAll(/[0-9]/g)].map(({ index }) => index);
  if (places.length === 0) return text;
  const at = random.pick(places);
  return text.slice(0, at) + random.pick('0123456789af') + text.slice(at + 1);
}

// A DNS server on UDP whose records the test decides: just enough of RFC 1035 for one question and its answers.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

export type DnsRecord =
  | { readonly address: string; readonly ttl?: number }
  | { readonly target: string; readonly port: number; readonly priority?: number; readonly weight?: number };

/** `silence` is no answer at all. */
export type DnsAnswer = 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silence' | readonly DnsRecord[];

export interface ScriptedDns {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** What was asked, like `SRV web.test`, in the order of arrival. */
  readonly questions: readonly string[];
  /** From now on the answer to `question`; an empty list is a name without such records. Otherwise: NXDOMAIN. */
  set(question: string, answer: DnsAnswer): void;
  stop(): Promise<void>;
  /** Listens again at the same address after `stop`. */
  restart(): Promise<void>;
}

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA', 33: 'SRV' };
const CODES: Readonly<Record<string, number>> = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const SRV_TTL = 0;

/** Starts the server on a free port of 127.0.0.1. */
export async function startDns(): Promise<ScriptedDns> {
  const answers = new Map<string, DnsAnswer>();
  const questions: string[] = [];
  let socket = await listen(0);
  const { port } = socket.address();

  function listen(at: number): Promise<Socket> {
    const opened = createSocket('udp4');
    opened.on('message', (query, { port: peerPort, address }) => {
      const { question, end } = readQuestion(query);
      questions.push(question);
      const answer = answers.get(question) ?? 'NXDOMAIN';
      if (answer !== 'silence') opened.send(reply(query.subarray(0, end), answer), peerPort, address);
    });
    opened.bind(at, '127.0.0.1');
    return once(opened, 'listening').then(() => opened);
  }
  return {
    address: `127.0.0.1:${port}`,
    questions,
    set: (question, answer) => void answers.set(question, answer),
    async stop() {
      socket.close();
      await once(socket, 'close');
    },
    async restart() {
      socket = await listen(port);
    },
  };
}

/** The question as text, and where it ends in the query. */
function readQuestion(query: Buffer): { readonly question: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  return { question: `${TYPES[type] ?? type} ${labels.join('.').toLowerCase()}`, end: at + 5 };
}

function reply(question: Buffer, answer: Exclude<DnsAnswer, 'silence'>): Buffer {
  const records = typeof answer === 'string' ? [] : answer;
  const head = Buffer.from(question);
  // A response with recursion, and the code.
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? (CODES[answer] ?? 0) : 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...records.map(encodeRecord)]);
}

function encodeRecord(record: DnsRecord): Buffer {
  if ('target' in record) {
    const { target, port, priority = 1, weight = 1 } = record;
    return resource(33, SRV_TTL, Buffer.concat([sixteenBits(priority, weight, port), encodeName(target)]));
  }
  const { address, ttl = 0 } = record;
  if (isIPv4(address)) return resource(1, ttl, Buffer.from(address.split('.').map(Number)));
  return resource(28, ttl, encodeIPv6(address));
}

/** A record of the name in the question. */
function resource(type: number, ttl: number, content: Buffer): Buffer {
  const seconds = Buffer.alloc(4);
  seconds.writeUInt32BE(ttl);
  return Buffer.concat([sixteenBits(0xc00c, type, 1), seconds, sixteenBits(content.length), content]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}

function encodeIPv6(address: string): Buffer {
  const [before = '', after] = address.split('::');
  const [first = [], last = []] = [before, after].map((half) => (half ? half.split(':') : []));
  const middle = after === undefined ? [] : new Array<string>(8 - first.length - last.length).fill('0');
  return sixteenBits(...[...first, ...middle, ...last].map((group) => Number.parseInt(group, 16)));
}

function sixteenBits(...values: readonly number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
}

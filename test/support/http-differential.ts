// The rule of the differential tests: what the codec accepts, Node's own parser accepts with the same meaning.
import { allowedDifference } from './http-allowed-differences.ts';
import { randomRequests, randomResponse } from './http-messages.ts';
import { cut, cutAt, mutate } from './http-mutations.ts';
import { type NodeReading, NodeRequestReader, readResponseWithNode } from './http-node-reading.ts';
import { type Reading, type ReadMessage, readRequests, readResponse } from './http-reading.ts';
import { createSeededRandom } from './seeded-random.ts';

/** What came of one input. */
export interface Comparison {
  /** What the counts are of, such as `refused by both: bare line end`. */
  readonly outcome: string;
  /** What is wrong, when the rule is broken. */
  readonly difference: string | null;
}

export interface Difference {
  readonly input: string;
  readonly difference: string;
}

export interface FuzzResult {
  readonly counts: ReadonlyMap<string, number>;
  readonly differences: readonly Difference[];
}

/** More than these say nothing new. */
const MAX_DIFFERENCES = 20;

const LAST_CHUNK = /\n0+(?:;[^\r\n]*)?\r\n/;

/** How Node says that a connection ended inside a message. */
const TRUNCATED: ReadonlySet<string> = new Set(['ECONNRESET', 'HPE_INVALID_EOF_STATE']);

/** Compares so many request streams and so many responses, made and spoilt with chance from the seed. */
export async function fuzz(options: { inputs: number; seed: number }): Promise<FuzzResult> {
  const counts = new Map<string, number>();
  const differences: Difference[] = [];
  const node = new NodeRequestReader();
  for (let at = 0; at < options.inputs && differences.length < MAX_DIFFERENCES; at++) {
    // Each input has its own seed, so that one can be had again without those before it.
    const random = createSeededRandom(Math.imul(options.seed + at, 0x9e3779b1));
    const isRequest = at % 2 === 0;
    const valid = isRequest ? { method: 'GET', stream: randomRequests(random) } : randomResponse(random);
    const octets = Buffer.from(mutate(valid.stream, random), 'latin1');
    const pieces = cut(octets, random, 4);
    const { outcome, difference } = isRequest
      ? await compareRequests(pieces, node)
      : await compareResponse(pieces, valid.method);
    const key = `${isRequest ? 'request' : 'response'}, ${outcome}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (difference !== null) differences.push({ input: JSON.stringify(octets.toString('latin1')), difference });
  }
  return { counts, differences };
}

/** Reads the stream, cut like that, as requests. */
export async function compareRequests(pieces: readonly Buffer[], node: NodeRequestReader): Promise<Comparison> {
  const octets = Buffer.concat(pieces);
  const ours = readRequests(pieces);
  const cutFault = cutDifference(ours, readRequests([octets]));
  return cutFault ?? compare({ ours, octets, node: await node.read(piecesForNode(ours, octets)) });
}

/** Reads the stream, cut like that and then ended, as the answer to a request with `method`. */
export async function compareResponse(pieces: readonly Buffer[], method: string): Promise<Comparison> {
  const octets = Buffer.concat(pieces);
  const ours = readResponse(pieces, method);
  const cutFault = cutDifference(ours, readResponse([octets], method));
  return cutFault ?? compare({ ours, octets, node: await readResponseWithNode(piecesForNode(ours, octets), method) });
}

/** The stream must be read the same in pieces and whole; only which rule is named first may differ. */
function cutDifference(inPieces: Reading, whole: Reading): Comparison | null {
  const [one, other] = [inPieces, whole].map(({ refusal, ...read }) => JSON.stringify([read, refusal !== null]));
  return one === other ? null : { outcome: 'DIFFERENT', difference: `${one} in pieces, ${other} whole` };
}

/**
 * Node gets the stream with a cut before and behind the last octet of every message. It does not get what we do not
 * read because it stands behind the last message of the connection.
 */
function piecesForNode({ messages, stop }: Reading, octets: Buffer): Buffer[] {
  const ends = messages.filter(({ isComplete }) => isComplete).map(({ end }) => end);
  const isToBeRead = stop === null || stop === 'connect' || ends.length < messages.length;
  const end = isToBeRead ? octets.length : Math.max(0, ...ends);
  return cutAt(
    octets.subarray(0, end),
    ends.flatMap((each) => [each - 1, each]),
  );
}

interface Readings {
  readonly ours: Reading;
  readonly octets: Buffer;
  readonly node: NodeReading;
}

function compare(readings: Readings): Comparison {
  const { ours } = readings;
  for (const [at, message] of ours.messages.entries()) {
    const difference = differenceOf(message, at, readings);
    if (difference === null) continue;
    const allowed = allowedUpTo(at, readings);
    return allowed === null
      ? { outcome: 'DIFFERENT', difference: `message ${at + 1}: ${difference}` }
      : { outcome: `allowed: ${allowed}`, difference: null };
  }
  return { outcome: outcomeOf(readings), difference: null };
}

/** The reason why Node may see message `last` otherwise, which may lie in one before it. */
function allowedUpTo(last: number, { ours, octets, node }: Readings): string | null {
  for (const [at, message] of ours.messages.slice(0, last + 1).entries()) {
    const allowed = allowedDifference(message, textOf(at, ours, octets), node);
    if (allowed !== null) return allowed;
  }
  return null;
}

function textOf(at: number, { messages }: Reading, octets: Buffer): string {
  return octets.toString('latin1', messages[at - 1]?.end, messages[at]?.end || octets.length);
}

function differenceOf(message: ReadMessage, at: number, { ours, octets, node }: Readings): string | null {
  const other = node.messages[at];
  if (other === undefined) return `Node has none (${node.error}); ours is ${message.line}`;
  const heads = unlike('head', [message.line, message.fields], [other.line, other.fields]);
  // Behind these heads nothing is HTTP any more.
  if (heads !== null || ours.stop === 'connect' || (ours.stop === 'upgrade' && !message.isComplete)) return heads;
  // Of a message that we refuse in the end, Node may think what it wants.
  if (!message.isComplete && ours.refusal !== null) return null;
  if (message.isComplete !== other.isComplete) {
    return `complete: ${message.isComplete}, to Node: ${other.isComplete} (${node.error})`;
  }
  if (!message.isComplete && node.error !== null && !TRUNCATED.has(node.error)) {
    // Trailers are judged when they are whole.
    const isInTrailers = message.framing === 'chunked' && LAST_CHUNK.test(textOf(at, ours, octets));
    return isInTrailers ? null : `Node refuses what we wait for (${node.error})`;
  }
  const contents = unlike('content', [message.content, message.trailers], [other.content, other.trailers]);
  return contents ?? (message.isComplete ? boundaryDifference(message, at, node) : null);
}

function unlike(what: string, one: readonly unknown[], other: readonly unknown[]): string | null {
  const [ours, nodes] = [JSON.stringify(one), JSON.stringify(other)];
  return ours === nodes ? null : `${what} ${ours} is ${nodes} to Node`;
}

/** Two pieces were cut for every message before this one, which ends with the piece behind its own cut. */
function boundaryDifference(message: ReadMessage, at: number, node: NodeReading): string | null {
  if (message.framing === 'close') return null;
  const [before, behind] = [node.completeAfter[2 * at], node.completeAfter[2 * at + 1]];
  return before === at && behind === at + 1 ? null : `Node has ${before} before its last octet and ${behind} behind it`;
}

function outcomeOf({ ours: { messages, refusal }, node }: Readings): string {
  const last = messages.at(-1);
  if (refusal !== null) {
    if (node.error !== null) return `refused by both: ${refusal}`;
    const isAccepted = node.messages.length > messages.length || node.messages.at(-1)?.isComplete === true;
    return `refused by us, ${isAccepted ? 'accepted' : 'not decided'} by Node: ${refusal}`;
  }
  if (node.error === null) return 'the same';
  const isCut = TRUNCATED.has(node.error);
  const place = last?.isComplete === false ? `${last.framing} content` : 'a head';
  return isCut ? `cut short in ${place}, noticed by both` : `refused earlier by Node, in ${place}`;
}

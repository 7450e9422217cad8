// Raw upstreams that say who they are: what a balancing or retry test needs to know of an answer.
import { get } from './raw-client.ts';
import type { RawConnection, RawUpstream } from './raw-upstream.ts';
import { upstreamThat } from './scene.ts';
import { sendRaw } from './send-raw.ts';

/** An upstream that answers every request with 200 and its name as content. */
export function namedUpstream(name: string, port = 0): Promise<RawUpstream> {
  return upstreamThat(sayingName(name), port);
}

/** An upstream for each name. */
export function namedUpstreams(...names: readonly string[]): Promise<RawUpstream[]> {
  return Promise.all(names.map((name) => namedUpstream(name)));
}

/** The script of one that answers with `status` and its name. */
export function sayingName(name: string, status = '200 OK', fields = ''): (connection: RawConnection) => void {
  const octets = `HTTP/1.1 ${status}\r\nContent-Length: ${name.length}\r\n${fields}\r\n${name}`;
  return ({ socket }) => void socket.write(octets, 'latin1');
}

/** How many requests an upstream has had. */
export function requestsOf({ connections }: RawUpstream): number {
  return connections.reduce((sum, { heads }) => sum + heads, 0);
}

export interface TextAnswer {
  readonly status: number;
  /** With the status line, without the blank line. */
  readonly head: string;
  readonly content: string;
}

/** Sends a whole request that ends its connection. */
export async function ask(port: number, request: string): Promise<TextAnswer> {
  const text = await sendRaw(port, request);
  const end = text.indexOf('\r\n\r\n');
  return { status: Number(text.slice(9, 12)), head: text.slice(0, end + 2), content: text.slice(end + 4) };
}

/** The contents of the answers to so many GETs, one after the other: the names of the upstreams that gave them. */
export async function namesOf(
  port: number,
  count: number,
  fields: (at: number) => string = () => '',
): Promise<string[]> {
  const names: string[] = [];
  for (let at = 0; at < count; at++) names.push((await ask(port, get('/', fields(at)))).content);
  return names;
}

/** How often each name was there. */
export function tally(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** The value of a field of an answer, or undefined. */
export function fieldOf({ head }: TextAnswer, name: string): string | undefined {
  const lines = head.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return lines.length === 0 ? undefined : lines.map((line) => line.slice(name.length + 1).trim()).join(', ');
}

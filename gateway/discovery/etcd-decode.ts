// Reads what etcd's HTTP gateway sends (API v3): the answer to a range, and the messages of a watch.
import { describeValue, quote } from '../core/quote.ts';
import { isObject, parseJson, type Undecodable } from './record.ts';

/** One key with its value, as text. */
export interface EtcdEntry {
  readonly key: string;
  readonly value: string;
}

export interface EtcdRange {
  readonly kind: 'range';
  /** The revision of the store, digit for digit: it may exceed 2^53. */
  readonly revision: string;
  readonly entries: readonly EtcdEntry[];
}

/** A key that was set, or with null deleted (a lease that expires deletes too), and the revision that did it. */
export interface EtcdChange {
  readonly key: string;
  readonly value: string | null;
  readonly revision: string;
}

export type EtcdMessage =
  | { readonly kind: 'created' }
  | { readonly kind: 'changes'; readonly changes: readonly EtcdChange[] }
  /** Nothing happened up to here. */
  | { readonly kind: 'progress' }
  /** The server ends the watch; with a `compactRevision` because it has forgotten what was asked for. */
  | { readonly kind: 'canceled'; readonly compactRevision: string | null; readonly reason: string }
  /** The stream ended, or what it says cannot be read. */
  | { readonly kind: 'broken'; readonly error: string };

/** Whether `revision` is lower than the `earlier` one; an unknown one is not. */
export function isEarlier(revision: string, earlier: string | null): boolean {
  return earlier !== null && BigInt(revision) < BigInt(earlier);
}

/** The digits of a revision as the gateway writes it (a string); null for anything else, and for zero. */
export function readRevision(value: unknown): string | null {
  return typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value) ? value : null;
}

/** Decodes the body of `/v3/kv/range`. What is not whole (no revision, another count) is `undecodable`, never empty. */
export function decodeRange(text: string): EtcdRange | Undecodable {
  const json = parseJson(text);
  if ('error' in json) return json;
  const { value: body } = json;
  if (!isObject(body)) return undecodable(`the body is not an object, but ${describeValue(body)}`);
  const revision = isObject(body.header) ? readRevision(body.header.revision) : null;
  if (revision === null) return undecodable('the body has no revision');
  const { kvs = [], count = '0' } = body;
  if (!Array.isArray(kvs)) return undecodable(`"kvs" is not a list, but ${describeValue(kvs)}`);
  if (String(count) !== String(kvs.length)) {
    return undecodable(`"count" is ${describeValue(count)}, but there are ${kvs.length} keys`);
  }
  const entries: EtcdEntry[] = [];
  for (const record of kvs) {
    const key = isObject(record) ? readBytes(record.key) : undefined;
    const value = isObject(record) ? readBytes(record.value) : undefined;
    if (key === undefined || value === undefined) return undecodable('a key or its value is not in base64');
    entries.push({ key, value });
  }
  return { kind: 'range', revision, entries };
}

/** Decodes one line of the stream that `/v3/watch` sends. */
export function decodeMessage(line: string): EtcdMessage {
  const json = parseJson(line);
  if ('error' in json) return broken(json.error);
  const { value: message } = json;
  if (!isObject(message)) return broken(`a message is not an object, but ${describeValue(message)}`);
  if (isObject(message.error)) return broken(`the watch failed: ${describeValue(message.error.message)}`);
  const { result } = message;
  if (!isObject(result)) return broken('a message has neither result nor error');
  if (result.canceled === true) {
    const reason = typeof result.cancel_reason === 'string' ? result.cancel_reason : 'no reason given';
    return { kind: 'canceled', compactRevision: readRevision(result.compact_revision), reason: quote(reason, 120) };
  }
  if (result.created === true) return { kind: 'created' };
  if (result.events === undefined) return { kind: 'progress' };
  return Array.isArray(result.events) ? decodeEvents(result.events) : broken('the events of a message are no list');
}

function decodeEvents(events: readonly unknown[]): EtcdMessage {
  const changes: EtcdChange[] = [];
  for (const event of events) {
    const kv = isObject(event) ? event.kv : undefined;
    const key = isObject(kv) ? readBytes(kv.key) : undefined;
    const revision = isObject(kv) ? readRevision(kv.mod_revision) : null;
    if (!isObject(event) || !isObject(kv) || key === undefined || revision === null) {
      return broken('an event has no key or no revision');
    }
    // Protobuf leaves out what has its default: PUT is the default type, and an empty value is none.
    const isPut = event.type === undefined || event.type === 'PUT';
    const value = isPut ? readBytes(kv.value) : null;
    if (value === undefined || (!isPut && event.type !== 'DELETE')) return broken('an event cannot be read');
    changes.push({ key, value, revision });
  }
  return { kind: 'changes', changes };
}

function readBytes(value: unknown = ''): string | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return undefined;
  return Buffer.from(value, 'base64').toString('utf8');
}

function undecodable(error: string): Undecodable {
  return { kind: 'undecodable', error };
}

function broken(error: string): EtcdMessage {
  return { kind: 'broken', error };
}

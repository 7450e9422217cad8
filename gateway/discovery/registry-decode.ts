// Reads the body of the table registry's `GET /instances`: its instances, or why it is no answer.
import { canonicalHost } from '../core/canonical-host.ts';
import type { Instance } from '../core/instance.ts';
import { describeValue, quote } from '../core/quote.ts';
import {
  badPort,
  badWeight,
  boundSentences,
  type Decoded,
  isObject,
  parseJson,
  readMeta,
  readPort,
  readStrings,
  readWeight,
  type Undecodable,
} from './record.ts';

/**
 * Decodes `{service, count, instances: [{instance, addr, port, meta}]}`. A body of another shape, about another
 * service, or with another number of instances than `count` says, is `undecodable`, never an empty list. Records that
 * cannot be used are skipped with a sentence each. The weight is `meta.weight` (else 1), the tags are `meta.tags`
 * (a list, or words separated by commas); what is listed is alive, so the status is always `passing`.
 */
export function decodeRegistryInstances(text: string, service: string): Decoded {
  const json = parseJson(text);
  if ('error' in json) return json;
  if (!isObject(json.value)) return undecodable(`the body is not an object, but ${describeValue(json.value)}`);
  const { service: answered, count, instances: records } = json.value;
  if (!Array.isArray(records)) return undecodable(`"instances" is not a list, but ${describeValue(records)}`);
  if (answered !== service) return undecodable(`the answer is about another service: ${describeValue(answered)}`);
  if (count !== records.length) {
    return undecodable(`"count" is ${describeValue(count)}, but there are ${records.length} instances`);
  }
  const instances: Instance[] = [];
  const skipped: string[] = [];
  const notes: string[] = [];
  for (const record of records) {
    const instance = decodeRecord(record, notes);
    if (typeof instance === 'string') skipped.push(instance);
    else instances.push(instance);
  }
  return { kind: 'records', instances, skipped: boundSentences(skipped), notes: boundSentences(notes) };
}

/** The instance, or why it is skipped. */
function decodeRecord(record: unknown, notes: string[]): Instance | string {
  if (!isObject(record)) return `a record is not an object, but ${describeValue(record)}`;
  const { instance: id, addr, port: givenPort, meta } = record;
  if (typeof id !== 'string' || id === '') return `a record has no instance ID, but ${describeValue(id)}`;
  const host = typeof addr === 'string' ? canonicalHost(addr) : undefined;
  if (host === undefined) return `instance ${quote(id)}: its address cannot be connected to: ${describeValue(addr)}`;
  const port = readPort(givenPort);
  if (port === undefined) return `instance ${quote(id)}: ${badPort(givenPort)}`;

  const given = isObject(meta) ? meta.weight : undefined;
  const weight = given === undefined ? 1 : readWeight(given);
  if (weight === undefined) notes.push(`instance ${quote(id)}: ${badWeight(given)}`);
  return {
    id,
    host,
    port,
    weight: weight ?? 1,
    status: 'passing',
    tags: readTags(isObject(meta) ? meta.tags : undefined),
    meta: readMeta(meta),
  };
}

function readTags(value: unknown): readonly string[] {
  const tags = typeof value === 'string' ? value.split(',') : readStrings(value);
  return tags.map((tag) => tag.trim()).filter((tag) => tag !== '');
}

function undecodable(error: string): Undecodable {
  return { kind: 'undecodable', error };
}

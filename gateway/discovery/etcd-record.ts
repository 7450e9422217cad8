// The value of one key in etcd as the instance it registers: `{"host", "port", "weight", "tags", "meta"}`.
import { canonicalHost } from '../core/canonical-host.ts';
import type { Instance } from '../core/instance.ts';
import { describeValue, quote } from '../core/quote.ts';
import { badPort, badWeight, isObject, parseJson, readMeta, readPort, readStrings, readWeight } from './record.ts';

/** An instance, perhaps with something to know about it, or the sentence why the value is none. */
export type EtcdRecord = { readonly instance: Instance; readonly note: string | null } | { readonly skipped: string };

/**
 * Reads the value of key `<prefix><service>/<id>`. `host` and `port` are needed; the weight is 1 where there is none
 * or an invalid one. What is there lives (its lease would have taken it out), so the status is always `passing`.
 */
export function decodeEtcdRecord(id: string, value: string): EtcdRecord {
  if (id === '') return { skipped: 'a key names no instance after the service' };
  const json = parseJson(value);
  if ('error' in json) return { skipped: `instance ${quote(id)}: its value is not JSON: ${describeValue(value)}` };
  const { value: record } = json;
  if (!isObject(record)) {
    return { skipped: `instance ${quote(id)}: its value is not an object, but ${describeValue(record)}` };
  }
  const { host: givenHost, port: givenPort, weight: givenWeight, tags, meta } = record;
  const host = typeof givenHost === 'string' ? canonicalHost(givenHost) : undefined;
  if (host === undefined) {
    return { skipped: `instance ${quote(id)}: its host cannot be connected to: ${describeValue(givenHost)}` };
  }
  const port = readPort(givenPort);
  if (port === undefined) return { skipped: `instance ${quote(id)}: ${badPort(givenPort)}` };

  const weight = givenWeight === undefined || givenWeight === null ? 1 : readWeight(givenWeight);
  const note = weight === undefined ? `instance ${quote(id)}: ${badWeight(givenWeight)}` : null;
  return {
    instance: {
      id,
      host,
      port,
      weight: weight ?? 1,
      status: 'passing',
      tags: readStrings(tags),
      meta: readMeta(meta),
    },
    note,
  };
}

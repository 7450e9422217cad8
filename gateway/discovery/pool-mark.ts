// The mark of a pool: what the leader keeps of it to tell whether the next answer changes anything.
import { hash } from 'node:crypto';
import type { PoolMark } from '../core/discovery-update.ts';
import type { Endpoint } from '../core/instance.ts';

/** The mark of endpoints in the order of their keys; equal for pools that are equal in every field. */
export function poolMark(endpoints: readonly Endpoint[]): PoolMark {
  return { size: endpoints.length, digest: hash('sha1', JSON.stringify(endpoints.map(fieldsOf))) };
}

/** The fields in one order, whoever made the object; meta is sorted where endpoints are merged. */
function fieldsOf({ key, host, port, weight, status, healthy, tags, meta, instances }: Endpoint): unknown {
  return [key, host, port, weight, status, healthy, tags, meta, instances];
}

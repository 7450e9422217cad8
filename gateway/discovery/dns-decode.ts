// What DNS records mean as instances: SRV with priorities, weights and targets, and plain addresses.
import { formatAddress } from '../core/address.ts';
import { canonicalHost } from '../core/canonical-host.ts';
import type { Instance } from '../core/instance.ts';
import { quote } from '../core/quote.ts';
import { badPort, boundSentences, type DecodedRecords, readPort } from './record.ts';

/** One SRV record (RFC 2782) as node:dns gives it, which leaves out its TTL. */
export interface SrvRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** One A or AAAA record; the TTL is in seconds. */
export interface AddressRecord {
  readonly address: string;
  readonly ttl: number;
}

/** Where the target of an SRV record is; `error` tells why that could not be asked, and the addresses are older ones. */
export interface Resolved {
  readonly addresses: readonly AddressRecord[];
  readonly error: string | null;
}

/** The DNS name that a template like `{service}.service.consul` makes for a service. */
export function dnsName(template: string, service: string): string {
  return template.replaceAll('{service}', service);
}

/** The records by rising priority, targets in lower case; target `.` (RFC 2782: no such service) makes no group. */
export function srvGroups(records: readonly SrvRecord[]): readonly (readonly SrvRecord[])[] {
  const served = records
    .filter(({ name }) => name !== '' && name !== '.')
    .map((record) => ({ ...record, name: record.name.toLowerCase() }));
  const byPriority = Map.groupBy(served, ({ priority }) => priority);
  return [...byPriority].sort(([a], [b]) => a - b).map(([, group]) => group);
}

/**
 * The instances of one group: one for every address of every target. Weight 0 counts as 1, the smallest share that
 * takes traffic at all. A target without an address and a port outside 1..65535 are skipped with a sentence each.
 */
export function decodeSrvGroup(
  group: readonly SrvRecord[],
  resolved: ReadonlyMap<string, Resolved>,
): Omit<DecodedRecords, 'kind'> {
  const instances: Instance[] = [];
  const skipped: string[] = [];
  const notes: string[] = [];
  for (const record of group) {
    const { name, weight } = record;
    const { addresses, error } = resolved.get(name) ?? { addresses: [], error: null };
    const port = readPort(record.port);
    if (port === undefined) {
      skipped.push(`target ${quote(name)}: ${badPort(record.port)}`);
      continue;
    }
    if (addresses.length === 0) {
      skipped.push(`target ${quote(name)} has no address${error === null ? '' : `: ${error}`}`);
      continue;
    }
    if (error !== null) notes.push(`target ${quote(name)} stays where it was: ${error}`);
    const found = decodeAddresses(addresses, port);
    skipped.push(...found.skipped);
    for (const instance of found.instances) {
      instances.push({ ...instance, id: `${name}/${instance.id}`, weight: Math.max(1, weight) });
    }
  }
  return { instances, skipped: boundSentences(skipped), notes: boundSentences(notes) };
}

/** One instance of weight 1 for each address; one that cannot be connected to (0.0.0.0, ::) is skipped. */
export function decodeAddresses(records: readonly AddressRecord[], port: number): Omit<DecodedRecords, 'kind'> {
  const instances: Instance[] = [];
  const skipped: string[] = [];
  for (const { address } of records) {
    const host = canonicalHost(address);
    if (host === undefined) skipped.push(`the address ${quote(address)} cannot be connected to`);
    else {
      instances.push({ id: formatAddress(host, port), host, port, weight: 1, status: 'passing', tags: [], meta: {} });
    }
  }
  return { instances, skipped: boundSentences(skipped), notes: [] };
}

/** What to know about the groups that are not used, one sentence each. */
export function reserveNotes(reserve: readonly (readonly SrvRecord[])[]): readonly string[] {
  return reserve.map((group) => {
    const count = group.length === 1 ? '1 record' : `${group.length} records`;
    return `${count} of priority ${group[0]?.priority} in reserve: a lower priority number is there`;
  });
}

/** Milliseconds until records must be asked for again: the least of their TTLs (seconds), within bounds. */
export function lookAgainMs(
  ttlsSeconds: readonly number[],
  { minTtlMs, maxTtlMs }: { readonly minTtlMs: number; readonly maxTtlMs: number },
): number {
  const least = ttlsSeconds.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return Math.min(maxTtlMs, Math.max(minTtlMs, least * 1000));
}

// Asks DNS where the instances of one service are, and remembers where the targets of its SRV records were.
import {
  type AddressRecord,
  decodeAddresses,
  decodeSrvGroup,
  type Resolved,
  reserveNotes,
  type SrvRecord,
  srvGroups,
} from './dns-decode.ts';
import { boundSentences, type DecodedRecords } from './record.ts';

/** What is needed of a `promises.Resolver` of node:dns. */
export interface Resolver {
  resolveSrv(name: string): Promise<readonly SrvRecord[]>;
  resolve4(name: string, options: typeof WITH_TTL): Promise<readonly AddressRecord[]>;
  resolve6(name: string, options: typeof WITH_TTL): Promise<readonly AddressRecord[]>;
}

export interface DnsLookupOptions {
  readonly resolver: Resolver;
  readonly name: string;
  readonly type: 'srv' | 'a' | 'aaaa';
  /** Of the instances where the records are plain addresses; null with `srv`. */
  readonly port: number | null;
  /** Once it is aborted no question leaves any more, and what is replied means nothing. */
  readonly signal: AbortSignal;
}

export interface DnsReply extends DecodedRecords {
  /** The TTLs, in seconds, of the address records that were used; 0 of one that could not be asked for. */
  readonly ttlsSeconds: readonly number[];
}

interface Failure {
  readonly error: string;
}

const WITH_TTL = { ttl: true } as const;

/** The questions about one service. */
export class DnsLookup {
  readonly #options: DnsLookupOptions;
  #targets: ReadonlyMap<string, Resolved> = new Map();

  constructor(options: DnsLookupOptions) {
    this.#options = options;
  }

  /** Asks once. That there is no such name or record is a reply without instances; everything else is an error. */
  async ask(): Promise<DnsReply | Failure> {
    const { resolver, name, type, port } = this.#options;
    if (type === 'srv') {
      const records = await query(resolver.resolveSrv(name));
      return 'error' in records ? records : this.#followSrv(records);
    }
    const records = await query(type === 'a' ? resolver.resolve4(name, WITH_TTL) : resolver.resolve6(name, WITH_TTL));
    if ('error' in records) return records;
    return { kind: 'records', ...decodeAddresses(records, port ?? 0), ttlsSeconds: records.map(({ ttl }) => ttl) };
  }

  /** Goes on to a higher priority number only where no record of the lower one can be used. */
  async #followSrv(records: readonly SrvRecord[]): Promise<DnsReply> {
    const groups = srvGroups(records);
    const targets = new Map<string, Resolved>();
    const skipped: string[] = [];
    for (const [at, group] of groups.entries()) {
      const names = new Set(group.map(({ name }) => name));
      await Promise.all([...names].map(async (name) => targets.set(name, await this.#addressesOf(name))));
      const { instances, notes, skipped: unusable } = decodeSrvGroup(group, targets);
      skipped.push(...unusable);
      if (instances.length === 0) continue;
      this.#targets = targets;
      const ttlsSeconds = [...targets.values()].flatMap(({ addresses }) => addresses.map(({ ttl }) => ttl));
      const allNotes = boundSentences([...notes, ...reserveNotes(groups.slice(at + 1))]);
      return { kind: 'records', instances, skipped: boundSentences(skipped), notes: allNotes, ttlsSeconds };
    }
    return { kind: 'records', instances: [], skipped: boundSentences(skipped), notes: [], ttlsSeconds: [] };
  }

  /** The IPv4 addresses of a target, or where it has none its IPv6 ones: two families would be one instance twice. */
  async #addressesOf(target: string): Promise<Resolved> {
    const { resolver, signal } = this.#options;
    if (signal.aborted) return { addresses: [], error: null };
    const v4 = await query(resolver.resolve4(target, WITH_TTL));
    const hasNone = !('error' in v4) && v4.length === 0 && !signal.aborted;
    const found = hasNone ? await query(resolver.resolve6(target, WITH_TTL)) : v4;
    if (!('error' in found)) return { addresses: found, error: null };
    const before = this.#targets.get(target)?.addresses ?? [];
    return { addresses: before.map(({ address }) => ({ address, ttl: 0 })), error: found.error };
  }
}

/** NXDOMAIN, and a name without records of the type: an answer that says "none". */
const NONE: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

const SENTENCES: Readonly<Record<string, string>> = {
  ESERVFAIL: 'the resolver failed (SERVFAIL)',
  EREFUSED: 'the resolver refused to answer (REFUSED)',
  ENOTIMP: 'the resolver does not do that (NOTIMP)',
  EFORMERR: 'the resolver did not understand (FORMERR)',
  ETIMEOUT: 'the resolver did not answer in time',
  ECONNREFUSED: 'the resolver cannot be reached: connection refused',
  EBADRESP: 'the answer cannot be read',
  EBADNAME: 'the name is no DNS name',
};

async function query<Item>(asked: Promise<readonly Item[]>): Promise<readonly Item[] | Failure> {
  try {
    return await asked;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return NONE.has(code) ? [] : { error: SENTENCES[code] ?? code };
  }
}

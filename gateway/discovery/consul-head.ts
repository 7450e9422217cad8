// The header of Consul's answers: the index, and whether an empty list may be believed.

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What the header of an answer says about it. */
export interface ConsulHead {
  /** X-Consul-Index digit for digit (it exceeds 2^53); null when it is missing, zero or no number. */
  readonly index: string | null;
  /** false only where the server says so: X-Consul-KnownLeader. */
  readonly hasLeader: boolean;
  /** X-Consul-Results-Filtered-By-ACLs: the token may not see everything. */
  readonly isFiltered: boolean;
  /** X-Consul-LastContact: milliseconds since the server that answered last heard of its leader. */
  readonly lastContactMs: number;
}

/** Longest silence of the leader, in milliseconds, after which a server's empty list is not believed. */
const MAX_LAST_CONTACT_MS = 10_000;

/** Reads the header fields (names in lower case). */
export function readConsulHead(headers: Headers): ConsulHead {
  const index = first(headers['x-consul-index']) ?? '';
  const lastContact = Number(first(headers['x-consul-lastcontact']) ?? 0);
  return {
    index: /^\d{1,20}$/.test(index) && BigInt(index) > 0n ? index : null,
    hasLeader: first(headers['x-consul-knownleader'])?.toLowerCase() !== 'false',
    isFiltered: first(headers['x-consul-results-filtered-by-acls'])?.toLowerCase() === 'true',
    lastContactMs: Number.isFinite(lastContact) ? lastContact : 0,
  };
}

/** Whether `index` is lower than the `earlier` one; an unknown index is not. */
export function isBackwards(index: string | null, earlier: string | null): boolean {
  return index !== null && earlier !== null && BigInt(index) < BigInt(earlier);
}

/** Why the server that gave an empty list may not know the present state of its cluster; null when it does. */
export function serverDoubt(head: ConsulHead): string | null {
  if (!head.hasLeader) return 'empty, but from a server that knows no leader';
  if (head.lastContactMs > MAX_LAST_CONTACT_MS) {
    return `empty, but from a server that has not heard of its leader for ${head.lastContactMs} ms`;
  }
  return null;
}

/** Why an empty list may not be the truth though the server knows its cluster; null when nothing speaks against it. */
export function contentDoubt(head: ConsulHead, skippedRecords: number, earlierIndex: string | null): string | null {
  if (head.isFiltered) return 'empty, but filtered by ACLs: the token may not read the service or its nodes';
  if (skippedRecords > 0) return 'empty, but only because no record can be used';
  if (isBackwards(head.index, earlierIndex)) {
    return `empty, but the index went back from ${earlierIndex} to ${head.index}: state was lost or restored`;
  }
  return null;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

// Rows of the registry's tables as its stores read them: what others wrote there by hand may be anything.
import type { HistoryEntry, ListedInstance } from './store.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Columns: instance, addr, port, meta. */
export function listedInstance(row: Row): ListedInstance {
  const { instance, addr, port, meta } = row;
  return { instance: String(instance), addr: String(addr), port: Number(port), meta: readMeta(String(meta)) };
}

/** Columns: those of an instance, its service, id, why, and registeredMs, lastSeenMs and goneMs since the epoch. */
export function historyEntry(row: Row): HistoryEntry {
  const { service, id, why, registeredMs, lastSeenMs, goneMs } = row;
  return {
    ...listedInstance(row),
    service: String(service),
    id: Number(id),
    registeredMs: Number(registeredMs),
    lastSeenMs: Number(lastSeenMs),
    goneMs: Number(goneMs),
    why: String(why),
  };
}

/** What is no object is none. */
function readMeta(json: string): ListedInstance['meta'] {
  try {
    const value: unknown = JSON.parse(json);
    return isMeta(value) ? value : {};
  } catch {
    return {};
  }
}

function isMeta(value: unknown): value is ListedInstance['meta'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

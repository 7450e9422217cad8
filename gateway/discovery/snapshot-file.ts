// The snapshot on disk: what the gateway serves from when it starts and its source does not answer.
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Endpoint } from '../core/instance.ts';

const FORMAT = 1;

const endpointSchema = z.strictObject({
  key: z.string(),
  host: z.string(),
  port: z.int(),
  weight: z.int(),
  status: z.enum(['passing', 'warning', 'critical', 'maintenance']),
  healthy: z.boolean(),
  tags: z.array(z.string()),
  meta: z.record(z.string(), z.string()),
  instances: z.array(z.string()),
});

const serviceSchema = z.strictObject({
  service: z.string(),
  source: z.string(),
  /** When the source last confirmed this pool, in milliseconds since the Unix epoch. */
  lastSuccessMs: z.number(),
  endpoints: z.array(endpointSchema),
});

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  sha256: z.string(),
  services: z.array(serviceSchema),
});

export type SavedService = z.output<typeof serviceSchema>;

export type LoadedSnapshot =
  | { readonly kind: 'loaded'; readonly services: readonly SavedService[]; readonly tooOld: readonly string[] }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly why: string };

/** A saved service as it is before: its pool may be one that is in use. */
interface ServiceToSave extends Omit<SavedService, 'endpoints'> {
  readonly endpoints: readonly Endpoint[];
}

/** Writes the snapshot so that a reader sees the old file or the new one, never a part. Rejects on a disk error. */
export async function saveSnapshot(path: string, services: readonly ServiceToSave[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  // Written once and used twice: with ten thousand endpoints it is megabytes.
  const json = JSON.stringify(services);
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`{"format":${FORMAT},"sha256":"${checksum(json)}","services":${json}}`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** Reads the snapshot; services that were confirmed longer than `maxAgeMs` before `wallMs` are left out. */
export async function loadSnapshot(
  path: string,
  options: { maxAgeMs: number; wallMs: number },
): Promise<LoadedSnapshot> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isAbsent ? { kind: 'absent' } : { kind: 'refused', why: `it cannot be read: ${String(error)}` };
  }
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success) return { kind: 'refused', why: 'it is not a snapshot of this version' };
  if (checksum(JSON.stringify(parsed.data.services)) !== parsed.data.sha256)
    return { kind: 'refused', why: 'its checksum is wrong' };
  const isFresh = (saved: SavedService): boolean => options.wallMs - saved.lastSuccessMs <= options.maxAgeMs;
  return {
    kind: 'loaded',
    services: parsed.data.services.filter(isFresh),
    tooOld: parsed.data.services.filter((saved) => !isFresh(saved)).map(({ service }) => service),
  };
}

function checksum(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// The certificates of a running gateway's listeners as lines for a terminal.
import { printable } from '../core/printable.ts';
import type { Paint } from './terminal.ts';

interface Certificate {
  readonly certificate: string;
  readonly names: readonly string[];
  readonly notAfter: string | null;
  readonly problem: string | null;
}

/** Of a listener with many certificates these are shown: the ones that expire first. */
const MOST_SHOWN = 5;
const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** A line for each certificate of each listener, and one for each problem; none where all is plain HTTP, or unknown. */
export function listenerLines(listeners: unknown, nowMs: number, paint: Paint): string[] {
  if (!Array.isArray(listeners)) return [];
  return listeners.flatMap((listener: unknown) => {
    const address = part(listener, 'address');
    const certificates = part(listener, 'certificates');
    if (typeof address !== 'string' || !Array.isArray(certificates)) return [];
    return certificateLines(address, certificates.filter(isCertificate), { nowMs, paint });
  });
}

function certificateLines(
  address: string,
  certificates: readonly Certificate[],
  { nowMs, paint }: { readonly nowMs: number; readonly paint: Paint },
): string[] {
  const ends = ({ notAfter }: Certificate): number => (notAfter === null ? 0 : Date.parse(notAfter));
  const served = certificates.filter(({ notAfter }) => notAfter !== null).toSorted((a, b) => ends(a) - ends(b));
  const lines = served.slice(0, MOST_SHOWN).map((certificate) => {
    const days = Math.floor((ends(certificate) - nowMs) / DAY_MS);
    const names = certificate.names.length === 0 ? 'no name' : certificate.names.join(', ');
    const line = printable(`${address} TLS: ${names}, ${days < 0 ? 'expired' : `expires in ${days}d`}`);
    return days < SOON_DAYS ? paint(line, days < 0 ? 'red' : 'yellow') : line;
  });
  const more = served.length - MOST_SHOWN;
  const problems = certificates.flatMap(({ problem }) => (problem === null ? [] : [paint(printable(problem), 'red')]));
  return [...lines, ...(more > 0 ? [`${address} TLS: and ${more} more certificates`] : []), ...problems];
}

function isCertificate(value: unknown): value is Certificate {
  const names = part(value, 'names');
  const isText = (key: string, orNull: boolean): boolean => {
    const found = part(value, key);
    return typeof found === 'string' || (orNull && found === null);
  };
  const isWhole = isText('certificate', false) && isText('notAfter', true) && isText('problem', true);
  return isWhole && Array.isArray(names) && names.every((name) => typeof name === 'string');
}

function part(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? new Map<string, unknown>(Object.entries(value)).get(key)
    : undefined;
}

// Which content coding a client gets: its Accept-Encoding field against what the route offers (RFC 9110 section 12.5.3).
import type { Coding } from '../../config/answer-schema.ts';

/** Longer fields are not worked out: such a client gets its answer as it is. */
export const LONGEST_ACCEPT_ENCODING = 512;

/**
 * The coding with the greatest weight, at equal weight the first of `offered`; null when the content goes as it is: the
 * client names none of them, or likes it better so.
 */
export function chooseCoding(accept: string | undefined, offered: readonly Coding[]): Coding | null {
  if (accept === undefined || accept.length > LONGEST_ACCEPT_ENCODING) return null;
  const weights = readWeights(accept);
  const any = weights.get('*') ?? 0;
  let best: Coding | null = null;
  let bestWeight = 0;
  for (const coding of offered) {
    const weight = weights.get(coding) ?? any;
    if (weight <= bestWeight) continue;
    best = coding;
    bestWeight = weight;
  }
  return bestWeight < (weights.get('identity') ?? 0) ? null : best;
}

/** The weights by lower-case name; of a name that comes twice the first counts. */
function readWeights(accept: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const member of accept.split(',')) {
    const [written = '', ...parameters] = member.split(';');
    const name = nameOf(written.trim().toLowerCase());
    if (name !== '' && !weights.has(name)) weights.set(name, weightOf(parameters));
  }
  return weights;
}

/** `x-gzip` is an old name of gzip (RFC 9110 section 8.4.1.3). */
function nameOf(written: string): string {
  return written === 'x-gzip' ? 'gzip' : written;
}

/** RFC 9110 section 12.4.2; a weight that is none counts as 0: nobody gets what it did not clearly ask for. */
function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim().toLowerCase() !== 'q') continue;
    return WEIGHT.test(value.trim()) ? Number(value) : 0;
  }
  return 1;
}

const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

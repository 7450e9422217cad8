// The keys of a route about what becomes of answers on their way to the client: compression and security headers.
import { z } from 'zod';
import { choice, list, refuse } from './fields.ts';

/** The content codings that Weir can apply (RFC 9110 section 8.4.1, RFC 7932, RFC 9659). */
export const CODINGS = ['zstd', 'br', 'gzip'] as const;

export type Coding = (typeof CODINGS)[number];

const ACCEPTED = 'off, or a list of zstd, br, gzip, each once, the preferred first';

/** The `compress` key; null comes out for "off". */
export const compress = z
  .union([z.literal('off'), list(choice(CODINGS), { of: 'zstd, br, gzip', min: 1 })], { error: ACCEPTED })
  .transform((written, checking) => {
    if (written === 'off') return null;
    return new Set(written).size === written.length ? written : refuse(checking, { expected: ACCEPTED });
  });

/** The `securityHeaders` key; null comes out for "off". */
export const securityHeaders = choice(['off', 'basic', 'strict']).transform((preset) =>
  preset === 'off' ? null : preset,
);

/** The name of a set of security headers. */
export type SecurityPreset = NonNullable<z.output<typeof securityHeaders>>;

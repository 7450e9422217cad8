// The security headers of a route: a preset, of which an answer gets what its service did not say itself.
import type { SecurityPreset } from '../../config/answer-schema.ts';
import { equalsIgnoringCase } from '../../http1/field-id.ts';

export interface SecurityHeaders {
  /** Lower-case names of response fields that are taken out: they tell what the service is made of. */
  readonly dropResponseFields: ReadonlySet<string>;
  /** The field lines, each with its CRLF, that an answer with these lines lacks. */
  missingFrom(lines: string): string;
}

interface PresetHeader {
  readonly name: string;
  readonly value: string;
  /** The lower-case name of another field that speaks for the service as well. */
  readonly orElse?: string;
}

interface Preset {
  readonly headers: readonly PresetHeader[];
  readonly drop: readonly string[];
}

const NO_SNIFFING = { name: 'X-Content-Type-Options', value: 'nosniff' };

const POWERFUL = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid', 'magnetometer', 'microphone'],
  ...['midi', 'payment', 'serial', 'usb'],
];

/**
 * `strict` follows the OWASP Secure Headers Project, but for what cannot be known from outside: where scripts come from, and
 * whether pages embed others (COEP).
 */
const PRESETS: Readonly<Record<SecurityPreset, Preset>> = {
  basic: {
    headers: [
      NO_SNIFFING,
      { name: 'X-Frame-Options', value: 'SAMEORIGIN' },
      { name: 'Referrer-Policy', value: 'strict-origin-when-cross-origin' },
    ],
    drop: [],
  },
  strict: {
    headers: [
      NO_SNIFFING,
      { name: 'X-Frame-Options', value: 'DENY' },
      {
        name: 'Content-Security-Policy',
        value: "frame-ancestors 'none'; base-uri 'self'; object-src 'none'",
        // To browsers frame-ancestors is the stronger word: a service that allows frames by the old field would lose them.
        orElse: 'x-frame-options',
      },
      { name: 'Referrer-Policy', value: 'no-referrer' },
      { name: 'Permissions-Policy', value: POWERFUL.map((feature) => `${feature}=()`).join(', ') },
      { name: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
      { name: 'Cross-Origin-Resource-Policy', value: 'same-origin' },
      { name: 'X-Permitted-Cross-Domain-Policies', value: 'none' },
    ],
    drop: ['server', 'x-powered-by', 'x-aspnet-version', 'x-aspnetmvc-version'],
  },
};

/** Names and values of a preset, and the lower-case names that it takes out. */
export function securityPreset(preset: SecurityPreset): Preset {
  return PRESETS[preset];
}

/** Prepares the `securityHeaders` key of a route. */
export function prepareSecurityHeaders(preset: SecurityPreset): SecurityHeaders {
  const { headers, drop } = PRESETS[preset];
  const watched = watchedByLength(headers);
  /** What is missing, by the set of bits of what is given. */
  const prepared: string[] = [];
  return {
    dropResponseFields: new Set(drop),
    missingFrom(lines) {
      const given = lines === '' ? 0 : givenIn(lines, watched);
      const before = prepared[given];
      if (before !== undefined) return before;
      const missing = headers.filter((_, at) => (given & (1 << at)) === 0);
      const text = missing.map(({ name, value }) => `${name}: ${value}\r\n`).join('');
      prepared[given] = text;
      return text;
    },
  };
}

/** Field names by their length, with the bits of the headers that they stand for. */
type Watched = readonly (readonly { readonly name: string; readonly bits: number }[] | undefined)[];

function watchedByLength(headers: readonly PresetHeader[]): Watched {
  const bits = new Map<string, number>();
  headers.forEach(({ name, orElse }, at) => {
    for (const each of [name.toLowerCase(), ...(orElse === undefined ? [] : [orElse])]) {
      bits.set(each, (bits.get(each) ?? 0) | (1 << at));
    }
  });
  const byLength: { name: string; bits: number }[][] = [];
  for (const [name, its] of bits) {
    const sameLength = byLength[name.length] ?? [];
    sameLength.push({ name, bits: its });
    byLength[name.length] = sameLength;
  }
  return byLength;
}

function givenIn(lines: string, watched: Watched): number {
  let given = 0;
  for (let start = 0; start < lines.length; ) {
    const colon = lines.indexOf(':', start);
    const end = lines.indexOf('\r\n', colon);
    if (colon === -1 || end === -1) break;
    const candidates = watched[colon - start];
    if (candidates !== undefined) {
      for (const { name, bits } of candidates) if (equalsIgnoringCase(lines, start, name)) given |= bits;
    }
    start = end + 2;
  }
  return given;
}

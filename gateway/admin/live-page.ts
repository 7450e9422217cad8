// The live page of /debug/upstreams: its document, its files and the headers that keep it alone with this gateway.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageAsset {
  /** Of the admin address. */
  readonly path: string;
  /** The `Content-Type`. */
  readonly type: string;
  readonly text: string;
}

const FOLDER = join(import.meta.dirname, 'page');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Only what this address serves runs, and nothing but this address is asked; text can become neither markup nor script. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** What the page loads, for anybody: nothing of the gateway is in it. */
export const LIVE_PAGE_ASSETS: readonly PageAsset[] = readdirSync(FOLDER).flatMap((name) => {
  const type = TYPES[extname(name)];
  return type === undefined ? [] : [{ path: `/debug/page/${name}`, type, text: textOf(name) }];
});

/** The page itself, for anybody as well: it asks for the document, and for a token when it needs one. */
export const LIVE_PAGE: { readonly text: string; readonly headers: Readonly<Record<string, string>> } = {
  text: textOf('index.html'),
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  },
};

function textOf(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

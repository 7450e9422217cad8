// The sections of a route about who may come in: networks, authentication, and pages of other origins.
import { z } from 'zod';
import { PUBLIC_KEY_ALGORITHMS, SECRET_KEY_ALGORITHMS } from '../access/key-set.ts';
import { MOST_HYPHENS } from '../access/own-fields.ts';
import { isHost } from '../core/address.ts';
import { type Checking, choice, duration, filePath, flag, list, pattern, refuse, section, text } from './fields.ts';
import { fieldName, method } from './http-fields.ts';
import { network } from './net-fields.ts';

/** The `allow` and `deny` lists. */
export const networks = list(network, { of: 'networks like 10.0.0.0/8' });

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Fields that Weir sets itself, that frame the message, or that say what its content is. */
const TAKEN =
  /^(?:connection|content-.*|expect|forwarded|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|via|x-forwarded-.*|x-real-ip|x-request-id)$/;

/** A field that crosses the gateway for authentication; comes out in lower case. */
const crossingName = text('a header name, other than those that Weir sets itself', (written) => {
  const name = written.toLowerCase();
  return TOKEN.test(name) && !TAKEN.test(name) ? name : undefined;
});

/** A field that tells the service who a request comes from. */
const identityName = text(
  `a header name with at most ${MOST_HYPHENS} hyphens or underscores, other than those that Weir sets itself`,
  (written) => {
    const name = written.toLowerCase();
    return TOKEN.test(name) && !TAKEN.test(name) && name.split(/[-_]/).length <= MOST_HYPHENS + 1 ? name : undefined;
  },
);

/** An address that is asked: neither user nor fragment in it. */
const askedUrl = text('a URL like http://127.0.0.1:9000/auth, without user and #', readUrl);

const realm = pattern('printable ASCII characters', /^[\x20-\x7e]{0,128}$/)
  .prefault('restricted')
  .describe('The name that clients show when they ask for credentials.');

/** A file that the loader reads: empty until then. */
const unread = (file: string) => ({ file, content: new Uint8Array() });

const basic = section({
  users: filePath('a file, relative to the route file').describe(
    'The file of the users, relative to the route file: `name:hash` lines, with bcrypt or scrypt hashes.',
  ),
  realm,
  userHeader: identityName.prefault('x-user').describe('The header that tells the service the name of the user.'),
  passCredentials: flag.default(false).describe('Whether the service gets the Authorization header as well.'),
}).transform(({ users, ...rest }) => ({ kind: 'basic' as const, users: unread(users), ...rest }));

const jwt = section({
  jwks: text('a URL like https://id.example/keys, or a file relative to the route file', readKeySource).describe(
    'Where the key set (JWKS) is: a URL, or a file relative to the route file.',
  ),
  issuer: text('text', (written) => written)
    .prefault('')
    .describe('What the claim iss must be; empty = anything.'),
  audience: text('text', (written) => written)
    .prefault('')
    .describe('What the claim aud must have among its values; empty = anything.'),
  algorithms: list(choice([...PUBLIC_KEY_ALGORITHMS, ...SECRET_KEY_ALGORITHMS]), { of: 'algorithms', min: 1 })
    .default([...PUBLIC_KEY_ALGORITHMS])
    .describe('Algorithms that a signature may have; HS256, HS384 and HS512 need a key set in a file.'),
  claims: z
    .record(z.string().min(1, { error: 'the name of a claim' }), identityName, {
      error: 'a mapping of claims to header names',
    })
    .prefault({})
    .describe('Claims that the service is told, each with its header.'),
  realm,
}).transform(({ issuer, audience, ...rest }, checking) => {
  const isSecret = rest.algorithms.some((name) => SECRET_KEY_ALGORITHMS.some((secret) => secret === name));
  if (isSecret && rest.jwks.kind === 'url') {
    refuse(checking, {
      wrong: 'a secret key that can be fetched',
      expected: 'jwks to be a file',
      path: ['algorithms'],
    });
  }
  refuseRepeated(Object.entries(rest.claims), checking);
  const required = { issuer: issuer === '' ? null : issuer, audience: audience === '' ? null : audience };
  return { kind: 'jwt' as const, ...rest, ...required };
});

const forward = section({
  url: askedUrl.describe('What is asked, with GET: 2xx lets the request in; a redirect or 4xx goes to the client.'),
  timeout: duration({ max: '1m' }).prefault('2s').describe('How long it may take to answer; beyond: 503.'),
  requestHeaders: list(crossingName, { of: 'header names' })
    .prefault(['authorization', 'cookie', 'accept', 'user-agent'])
    .describe('Headers of the client that are sent along.'),
  responseHeaders: list(identityName, { of: 'header names' })
    .prefault([])
    .describe('Headers of its answer that go on to the service; what clients send in them never does.'),
}).transform(({ timeout, ...rest }) => ({ kind: 'forward' as const, timeoutMs: timeout, ...rest }));

/** The `auth` section. */
export const auth = section({
  basic: basic.exactOptional().describe('User name and password, from a file.'),
  jwt: jwt.exactOptional().describe('A bearer token, signed by somebody whose keys are known.'),
  forward: forward.exactOptional().describe('Another service decides.'),
}).transform(({ basic, jwt, forward }, checking) => {
  const [only, ...others] = [basic, jwt, forward].filter((way) => way !== undefined);
  if (only !== undefined && others.length === 0) return only;
  return refuse(checking, { wrong: 'not one way to come in', expected: 'one of basic, jwt and forward' });
});

/** The `cors` section; null when it names no origin. */
export const cors = section({
  origins: list(text('an origin like https://shop.example.com or https://*.example.com, or *', readOrigin), {
    of: 'origins',
  })
    .prefault([])
    .describe('Origins whose pages may read the answers; without any, CORS is left to the service.'),
  methods: list(method, { of: 'methods' })
    .prefault([])
    .describe('Methods that they may use besides GET, HEAD and POST; `*` = any.'),
  headers: list(fieldName, { of: 'header names' })
    .prefault([])
    .describe('Headers that they may send besides the simple ones; `*` = any.'),
  exposeHeaders: list(fieldName, { of: 'header names' })
    .prefault([])
    .describe('Headers of answers that they may read besides the simple ones.'),
  credentials: flag.default(false).describe('Whether they may send cookies and credentials; not with the origin `*`.'),
  maxAge: duration({ min: '0s', max: '24h' })
    .prefault('10m')
    .describe('How long a browser may remember what a preflight was answered.'),
}).transform(({ maxAge, headers, ...rest }, checking) => {
  if (rest.origins.length === 0) {
    const without = { wrong: 'has no effect', expected: 'origins to be set as well' };
    const lists = { methods: rest.methods, headers, exposeHeaders: rest.exposeHeaders };
    for (const [key, names] of Object.entries(lists)) {
      if (names.length > 0) refuse(checking, { ...without, path: [key] });
    }
    if (rest.credentials) refuse(checking, { ...without, path: ['credentials'] });
    return null;
  }
  if (rest.credentials && rest.origins.includes('*')) {
    refuse(checking, {
      wrong: 'any page could act for the user',
      expected: 'origins without *',
      path: ['credentials'],
    });
  }
  if (rest.credentials && rest.exposeHeaders.includes('*')) {
    refuse(checking, { wrong: '* means nothing with credentials', expected: 'names', path: ['exposeHeaders'] });
  }
  return { ...rest, requestHeaders: headers, maxAgeMs: maxAge };
});

function readUrl(written: string): string | undefined {
  const url = /^https?:\/\/[^\s\\]+$/i.test(written) ? URL.parse(written) : null;
  if (url === null || url.username !== '' || url.password !== '' || written.includes('#')) return undefined;
  return isHost(url.hostname.replace(/^\[(.*)\]$/, '$1')) ? url.href : undefined;
}

function readKeySource(written: string) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) {
    const url = readUrl(written);
    return url === undefined ? undefined : { kind: 'url' as const, url };
  }
  return written === '' || written.includes('\0') ? undefined : { kind: 'file' as const, ...unread(written) };
}

/** An origin as browsers write it: in lower case, without the default port of its scheme. */
function readOrigin(written: string): string | undefined {
  if (written === '*') return written;
  const [, scheme = '', star = '', authority = ''] = /^(https?):\/\/(\*\.)?([^/?#\\@\s*]+)$/i.exec(written) ?? [];
  const url = URL.parse(`${scheme}://${authority}`);
  if (url === null || !isHost(url.hostname.replace(/^\[(.*)\]$/, '$1'))) return undefined;
  return `${url.protocol}//${star}${url.host}`;
}

function refuseRepeated(claims: readonly (readonly [claim: string, field: string])[], checking: Checking): void {
  const seen = new Set<string>();
  for (const [claim, field] of claims) {
    if (seen.has(field)) refuse(checking, { wrong: 'the same header as of another claim', path: ['claims', claim] });
    seen.add(field);
  }
}

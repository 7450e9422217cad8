// The schema of gateway.yaml: every key with its type, default, check and documentation.
import { z } from 'zod';
import { isLoopback } from '../core/address.ts';
import { discovery } from './discovery-schema.ts';
import { choice, duration, filePath, flag, list, pattern, refuse, secret, section, size, whole } from './fields.ts';
import { listener } from './listener-schema.ts';
import { listenAddress, network } from './net-fields.ts';
import { tracing } from './tracing-schema.ts';

const admin = section({
  address: listenAddress
    .prefault('127.0.0.1:9901')
    .describe('Where the admin pages and metrics are; other than loopback needs a token.'),
  token: secret.prefault('').describe('What a caller of the admin address must send as bearer token; empty = nothing.'),
}).transform(({ address, token }, checking) => {
  if (token === '' && !isLoopback(address.host)) {
    refuse(checking, { wrong: 'not a loopback address', expected: 'admin.token to be set as well', path: ['address'] });
  }
  return { ...address, token };
});

const limits = section({
  requestLine: size({ min: '64B', max: '1MiB' }).prefault('8KiB').describe('Longest request line; beyond: 414.'),
  headers: size({ min: '256B', max: '16MiB' }).prefault('32KiB').describe('Largest request head; beyond: 431.'),
  headerCount: whole({ min: 1, max: 10_000 }).default(100).describe('Most header fields of a request; beyond: 431.'),
  body: size({ off: true })
    .prefault('10MiB')
    .describe('Largest request body, "off" for no limit; a route may override; beyond: 413.'),
  connections: whole({ min: 1, max: 10_000_000 }).default(20_000).describe('Most client connections, whole process.'),
}).transform(({ requestLine, headers, headerCount, body, connections }) => {
  return { requestLineBytes: requestLine, headersBytes: headers, headerCount, bodyBytes: body, connections };
});

const timeouts = section({
  requestHead: duration()
    .prefault('10s')
    .describe('From the first byte (or the accept) to the end of the request head, in total; beyond: 408.'),
  requestBody: duration().prefault('30s').describe('Between two reads of the request body.'),
  keepAlive: duration().prefault('75s').describe('How long an idle client connection is kept.'),
  write: duration().prefault('60s').describe('How long a client may read nothing of its response.'),
}).transform(({ requestHead, requestBody, keepAlive, write }) => {
  return { requestHeadMs: requestHead, requestBodyMs: requestBody, keepAliveMs: keepAlive, writeMs: write };
});

const shutdown = section({
  drain: duration({ min: '0s' }).prefault('30s').describe('How long running requests may take to end at shutdown.'),
}).transform(({ drain }) => ({ drainMs: drain }));

const log = section({
  level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('The least severe messages that are logged.'),
  format: choice(['json', 'pretty']).default('json').describe('How messages are written: json, or pretty for people.'),
  file: pattern('a file name, or ""', /^[^\0]*$/)
    .prefault('')
    .describe(
      'The file to append to, relative to the working directory; empty = standard output. SIGUSR2 opens it anew.',
    ),
  access: flag.default(true).describe('Whether every request is logged, as one line.'),
  accessFormat: choice(['json', 'combined'])
    .default('json')
    .describe('How requests are logged: json with everything, or the combined format of web servers.'),
});

const degradedCache = section({
  maxBytes: size({ min: '64KiB', max: '64GiB' }).prefault('64MiB').describe('All answers together, whole process.'),
  maxEntryBytes: size({ min: '1KiB', max: '1GiB' }).prefault('1MiB').describe('One answer.'),
}).transform(({ maxBytes, maxEntryBytes }, checking) => {
  if (maxEntryBytes > maxBytes) refuse(checking, { wrong: 'more than maxBytes', path: ['maxEntryBytes'] });
  return { maxBytes, maxEntryBytes };
});

/** The schema of gateway.yaml; `routes` comes out as it was written. */
export const gatewaySchema = section({
  listen: list(listener, { of: 'listeners, each with an address', min: 1 })
    .prefault([{ address: '0.0.0.0:8080' }])
    .describe('The public listeners.'),
  admin: admin.prefault({}).describe('The admin address: debug pages, metrics, health.'),
  workers: z
    .union([choice(['auto']), whole({ min: 1, max: 1024 })], { error: 'auto or a whole number from 1 to 1024' })
    .default('auto')
    .describe('Worker threads; auto: one for each CPU this process may use.'),
  routes: filePath('a folder, relative to this file')
    .prefault('../routes')
    .describe('The folder of the route files, relative to this file.'),
  trustedProxies: list(network, { of: 'networks like 10.0.0.0/8' })
    .prefault([])
    .describe('Networks of proxies in front whose forwarding fields are believed.'),
  discovery: discovery.prefault({}).describe('Where the endpoints of services come from.'),
  limits: limits.prefault({}).describe('What a client may send.'),
  timeouts: timeouts.prefault({}).describe('How long a client may take.'),
  shutdown: shutdown.prefault({}).describe('What happens at the end.'),
  log: log.prefault({}).describe('What is logged.'),
  degradedCache: degradedCache.prefault({}).describe('Memory for answers of the fallback `stale`.'),
  tracing: tracing.describe('Spans for an OpenTelemetry collector, or "off".'),
});

/** The effective gateway.yaml: all defaults filled in, units in the names; `routes` is an absolute folder. */
export type GatewayConfig = z.output<typeof gatewaySchema>;

// What the contract knows and this version cannot do is refused by name, not ignored.
import { describe, expect, it } from 'vitest';
import { gatewayJsonSchema, pathsTo, routeJsonSchema } from '../../../gateway/config/json-schema.ts';
import { checkGateway, checkRoute, problemLines } from './checking.ts';

const GATEWAY = [
  ['listen: [{ address: "a:443", tls: {} }]', 'listen[0].tls'],
  ['listen: [{ address: "a:443", http2: true }]', 'listen[0].http2'],
  ['listen: [{ address: "a:80", redirect: https }]', 'listen[0].redirect'],
  ['listen: [{ address: "a:80", proxyProtocol: [] }]', 'listen[0].proxyProtocol'],
  ['degradedCache: { maxBytes: 64MiB }', 'degradedCache'],
  ['tracing: { otlp: http://a:1, sample: 1% }', 'tracing'],
] as const;

const ROUTE = [
  ['endpoints: [https://a:1]', 'endpoints[0]'],
  ['endpoints: [{ address: "https://a:1" }]', 'endpoints[0].address'],
  ['subset: { tags: [] }', 'subset'],
  ['split: []', 'split'],
  ['balance: { policy: random }', 'balance.policy'],
  ['balance: { policy: least_request }', 'balance.policy'],
  ['balance: { policy: peak_ewma }', 'balance.policy'],
  ['balance: { policy: consistent_hash }', 'balance.policy'],
  ['balance: { hash: { on: client_ip } }', 'balance.hash'],
  ['retry: { budget: 20% }', 'retry.budget'],
  ['retry: { minPerSecond: 3 }', 'retry.minPerSecond'],
  ['ejection: { failurePercent: 50 }', 'ejection.failurePercent'],
  ['ejection: { minRequests: 20 }', 'ejection.minRequests'],
  ['ejection: { window: 10s }', 'ejection.window'],
  ['ejection: { slowerThan: 3 }', 'ejection.slowerThan'],
  ['slowStart: { window: 10s }', 'slowStart'],
  ['breaker: { failurePercent: 50 }', 'breaker'],
  ['rateLimit: []', 'rateLimit'],
  ['concurrency: { max: 10 }', 'concurrency'],
  ['fallback: { on: [breaker], chain: [{ respond: {} }] }', 'fallback.on[0]'],
  ['fallback: { on: [status-5xx], chain: [{ respond: {} }] }', 'fallback.on[0]'],
  ['fallback: { chain: [{ stale: { maxAge: 10m } }] }', 'fallback.chain[0].stale'],
  ['fallback: { chain: [{ upstream: [https://a] }] }', 'fallback.chain[0].upstream[0]'],
  ['protocol: h2', 'protocol'],
  ['protocol: h2c', 'protocol'],
  ['allow: []', 'allow'],
  ['deny: [10.0.0.0/8]', 'deny'],
  ['auth: { basic: { users: /etc/weir/users } }', 'auth'],
  ['cors: { origins: [] }', 'cors'],
  ['compress: [br]', 'compress'],
  ['securityHeaders: strict', 'securityHeaders'],
] as const;

describe('not supported yet', () => {
  it.each(GATEWAY)('in gateway.yaml: %s', (text, key) => {
    expect(problemLines(checkGateway(text))).toEqual([expect.stringMatching(/^g\.yaml:1:\d+ .*: not supported yet$/)]);
    expect(problemLines(checkGateway(text))[0]).toContain(` ${key}: `);
  });

  it.each(ROUTE)('in a route: %s', (text, key) => {
    const lines = problemLines(checkRoute(`service: a\n${text}`));
    expect(lines).toEqual([expect.stringMatching(/^r\.yaml:2:\d+ .*: not supported yet$/)]);
    expect(lines[0]).toContain(` ${key}: `);
  });

  it('is placed at a key that is not supported, and at a value that is not', () => {
    expect(problemLines(checkRoute('service: a\ncors: {}'))).toEqual(['r.yaml:2:1 cors: not supported yet']);
    expect(problemLines(checkRoute('service: a\nprotocol: h2'))).toEqual(['r.yaml:2:11 protocol: not supported yet']);
  });

  it('is not suggested, and not in the JSON Schemas', () => {
    expect(problemLines(checkRoute('service: a\nrateLimits: []'))).toEqual(['r.yaml:2:1 rateLimits: unknown key']);
    for (const key of ['degradedCache', 'redirect', 'http2']) expect(pathsTo(gatewayJsonSchema, key)).toEqual([]);
    for (const key of ['subset', 'cors', 'hash', 'budget', 'window']) expect(pathsTo(routeJsonSchema, key)).toEqual([]);
  });
});

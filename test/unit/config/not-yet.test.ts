// What the contract knows and this version cannot do is refused by name, not ignored.
import { describe, expect, it } from 'vitest';
import { gatewayJsonSchema, pathsTo, routeJsonSchema } from '../../../gateway/config/json-schema.ts';
import { checkGateway, checkRoute, problemLines } from './checking.ts';

const GATEWAY = [
  ['listen: [{ address: "a:443", tls: {} }]', 'listen[0].tls'],
  ['listen: [{ address: "a:443", http2: true }]', 'listen[0].http2'],
  ['listen: [{ address: "a:80", redirect: https }]', 'listen[0].redirect'],
  ['listen: [{ address: "a:80", proxyProtocol: [] }]', 'listen[0].proxyProtocol'],
  ['tracing: { otlp: http://a:1, sample: 1% }', 'tracing'],
] as const;

const ROUTE = [
  ['endpoints: [https://a:1]', 'endpoints[0]'],
  ['endpoints: [{ address: "https://a:1" }]', 'endpoints[0].address'],
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
    expect(problemLines(checkRoute('service: a\ncorss: {}'))).toEqual(['r.yaml:2:1 corss: unknown key']);
    for (const key of ['redirect', 'http2', 'proxyProtocol']) expect(pathsTo(gatewayJsonSchema, key)).toEqual([]);
    for (const key of ['allow', 'deny', 'auth', 'cors']) expect(pathsTo(routeJsonSchema, key)).toEqual([]);
  });
});

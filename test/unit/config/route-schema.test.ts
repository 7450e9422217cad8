// A route file: its defaults, what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { checkRoute, problemLines, valid } from './checking.ts';

describe('a route file with nothing but a service', () => {
  it('has every default of the contract (SPEC 2.2)', () => {
    const fields = { set: {}, remove: [] };
    expect(valid(checkRoute('service: order-service'))).toEqual({
      service: 'order-service',
      source: undefined,
      endpoints: [],
      match: [],
      rewrite: { stripPrefix: '', addPrefix: '', host: 'client', requestHeaders: fields, responseHeaders: fields },
      balance: { policy: 'weighted_round_robin', hash: null },
      subset: { tags: [], meta: {} },
      split: [],
      slowStart: { windowMs: 0, minPercent: 10 },
      breaker: null,
      rateLimit: [],
      concurrency: null,
      allow: [],
      deny: [],
      auth: null,
      cors: null,
      compress: null,
      securityHeaders: null,
      timeout: { connectMs: 2000, responseMs: 30_000, idleMs: 60_000, totalMs: Number.POSITIVE_INFINITY },
      retry: {
        attempts: 3,
        on: ['connect', 'reset', 'timeout'],
        statuses: [502, 503, 504],
        bodyBufferBytes: 65_536,
        budgetPercent: 20,
        minPerSecond: 3,
      },
      ejection: {
        consecutiveFailures: 5,
        failurePercent: 50,
        minRequests: 20,
        windowMs: 10_000,
        slowerThan: Number.POSITIVE_INFINITY,
        baseMs: 5000,
        maxMs: 300_000,
        maxPercent: 50,
        statuses: [500, 502, 503, 504],
      },
      bodyBytes: null,
      websocket: true,
      protocol: 'http',
      fallback: null,
    });
  });

  it('shares no default with another route', () => {
    const [one, other] = [valid(checkRoute('service: a')), valid(checkRoute('service: b'))];
    one.retry.statuses.push(500);
    expect(other.retry.statuses).toEqual([502, 503, 504]);
    expect(valid(checkRoute('service: c')).retry.statuses).toEqual([502, 503, 504]);
  });
});

describe('accepted values', () => {
  it.each([
    ['source: registry', ['source'], 'registry'],
    ['source: dns', ['source'], 'dns'],
    ['source: etcd', ['source'], 'etcd'],
    ['endpoints: [10.0.0.5:8080, "[::1]:80"]', ['source'], 'static'],
    [
      'endpoints: [a:1, { address: b:2, weight: 0, tags: [x], meta: { 1: "y" } }]',
      ['endpoints'],
      [
        { host: 'a', port: 1, weight: 1, tags: [], meta: {} },
        { host: 'b', port: 2, weight: 0, tags: ['x'], meta: { 1: 'y' } },
      ],
    ],
    ['match: [{}]', ['match'], [{ hosts: null, paths: ['/*'], methods: null, headers: {} }]],
    [
      'match: [{ hosts: [Shop.Example.com., "*.A.b", 10.0.0.1, "[::1]", "fd00::A"], methods: [GET, M-SEARCH], headers: { X-Beta: "1", y: "*" } }]',
      ['match', 0],
      {
        hosts: ['shop.example.com', '*.a.b', '10.0.0.1', '[::1]', '[fd00::a]'],
        paths: ['/*'],
        methods: ['GET', 'M-SEARCH'],
        headers: { 'x-beta': '1', y: '*' },
      },
    ],
    [
      'match: [{ paths: [/, /a, /a/*, /a*, /.*, "/%C3%BC/x;y=1%2F"] }]',
      ['match', 0, 'paths'],
      ['/', '/a', '/a/*', '/a*', '/.*', '/%C3%BC/x;y=1%2F'],
    ],
    ['rewrite: { stripPrefix: /api, addPrefix: /v1/x }', ['rewrite', 'stripPrefix'], '/api'],
    ['rewrite: { host: upstream }', ['rewrite', 'host'], 'upstream'],
    ['rewrite: { host: "inner.example:8080" }', ['rewrite', 'host'], { literal: 'inner.example:8080' }],
    ['rewrite: { host: "[::1]" }', ['rewrite', 'host'], { literal: '[::1]' }],
    [
      'rewrite: { requestHeaders: { set: { X-A: "" }, remove: [Cookie] } }',
      ['rewrite', 'requestHeaders'],
      { set: { 'X-A': '' }, remove: ['Cookie'] },
    ],
    [
      'timeout: { total: 5s, connect: 250ms }',
      ['timeout'],
      { connectMs: 250, responseMs: 30_000, idleMs: 60_000, totalMs: 5000 },
    ],
    ['body: off', ['bodyBytes'], Number.POSITIVE_INFINITY],
    ['body: 1KiB', ['bodyBytes'], 1024],
    ['websocket: false', ['websocket'], false],
  ])('%s', (text, path, value) => {
    expect(valid(checkRoute(`service: a\n${text}`))).toHaveProperty(path, value);
  });

  it.each([
    'protocol: http',
    'breaker: off',
    'compress: off',
    'securityHeaders: off',
    'ejection: { slowerThan: off, failurePercent: 50 }',
    'retry: { budget: 20% }',
    'balance: { policy: weighted_round_robin }',
    'subset: {}',
    'slowStart: { window: off }',
    'rateLimit: []',
    'concurrency: { max: off }',
  ])('%s, as it says what is anyway', (text) => {
    expect(valid(checkRoute(`service: a\n${text}`))).toEqual(valid(checkRoute('service: a')));
  });
});

describe('refused values, each with its place and what was expected', () => {
  const duration = 'expected a duration like 5s or 250ms';
  const path =
    'expected a path like /orders or /orders/*: * only at its end, no dot segments, nothing needlessly percent-encoded';
  const host = 'expected a host like shop.example.com or *.example.com, without port';
  const name = 'expected a header name, other than those of the connection and of framing';

  // Case 136: a typo was silently ignored, and the default used.
  it.each([
    ['fallbck: {}', '2:1 fallbck: unknown key, did you mean "fallback"?'],
    ['retrys: 3', '2:1 retrys: unknown key, did you mean "retry"?'],
    [
      'retry: 3',
      '2:8 retry: wrong type (a number), expected a mapping with attempts, on, statuses, bodyBuffer, budget, minPerSecond',
    ],
    [
      'endpoints: [{ address: a:1, weight: "ten" }]',
      '2:37 endpoints[0].weight: wrong type (text), expected a whole number from 0 to 65535',
    ],
    ['timeout: { connect: 5 }', `2:21 timeout.connect: wrong type (a number), ${duration}`],
    ['timeout: { total: 5 }', `2:19 timeout.total: wrong type (a number), ${duration}, or off`],
    ['websocket: true\nwebsocket: false', '3:1 websocket: duplicate key'],
    ['connect: 5s', '2:1 connect: unknown key, did you mean "timeout.connect"?'],
    ['match: { paths: [/x] }', '2:8 match: wrong type (a mapping), expected a list of rules'],
  ])('%s (case 136)', (text, problem) => {
    expect(problemLines(checkRoute(`service: a\n${text}`))).toEqual([`r.yaml:${problem}`]);
  });

  it.each([
    ['endpoints: []', '2:12 endpoints: empty, expected a list of endpoints, not empty'],
    [
      'endpoints: [5]',
      '2:13 endpoints[0]: not valid, expected an address like 10.0.0.5:8080, or a mapping with address, weight, tags, meta',
    ],
    [
      'endpoints: [{ weight: 1 }]',
      '2:13 endpoints[0].address: missing, expected an address like 10.0.0.5:8080 or "[fd00::5]:8080"',
    ],
    ['endpoints: [{ address: a:1, wieght: 1 }]', '2:29 endpoints[0].wieght: unknown key, did you mean "weight"?'],
    [
      'endpoints: [http://a:1]',
      '2:13 endpoints[0]: not valid, expected an address like 10.0.0.5:8080 or "[fd00::5]:8080"',
    ],
    ['source: consul\nendpoints: [a:1]', '2:9 source: both source and endpoints, expected one of them'],
    ['match: [{ hosts: [] }]', '2:18 match[0].hosts: empty, expected a list of hosts, not empty'],
    ['match: [{ hosts: ["a:80"] }]', `2:19 match[0].hosts[0]: not valid, ${host}`],
    ['match: [{ hosts: ["*"] }]', `2:19 match[0].hosts[0]: not valid, ${host}`],
    ['match: [{ hosts: ["a.*.b"] }]', `2:19 match[0].hosts[0]: not valid, ${host}`],
    ['match: [{ hosts: ["*.10.0.0.1"] }]', `2:19 match[0].hosts[0]: not valid, ${host}`],
    ['match: [{ hosts: ["http://a"] }]', `2:19 match[0].hosts[0]: not valid, ${host}`],
    ['match: [{ paths: [orders] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["*"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/a*b"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/**"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/a/../b"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/a?b"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/a b"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/%7Ex"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/a/.."] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ paths: ["/%zz"] }]', `2:19 match[0].paths[0]: not valid, ${path}`],
    ['match: [{ methods: [get] }]', '2:21 match[0].methods[0]: not valid, expected a method in capitals like GET'],
    [
      'match: [{ headers: { x: 1 } }]',
      '2:25 match[0].headers.x: wrong type (a number), expected text (numbers in quotes) without control characters or outer spaces',
    ],
    [
      'match: [{ headers: { "x y": "1" } }]',
      '2:22 match[0].headers["x y"]: not valid, expected a header name like x-request-id',
    ],
    [
      'match: [{ headers: { "x y": } }]',
      '2:22 match[0].headers["x y"]: not valid, expected a header name like x-request-id',
    ],
    [
      'match: [{ headers: { x-a: "1", X-A: "2" } }]',
      '2:32 match[0].headers.X-A: duplicate key: header names ignore case',
    ],
    [
      'rewrite: { stripPrefix: api }',
      '2:25 rewrite.stripPrefix: not valid, expected a path like /api without a final /, or nothing',
    ],
    [
      'rewrite: { addPrefix: /api/ }',
      '2:23 rewrite.addPrefix: not valid, expected a path like /api without a final /, or nothing',
    ],
    ['rewrite: { host: "a b" }', '2:18 rewrite.host: not valid, expected client, upstream or a host'],
    ['rewrite: { host: upstraem }', '2:18 rewrite.host: not valid, expected client, upstream or a host'],
    [
      'rewrite: { responseHeaders: { set: { x: "a\\r\\nb: c" } } }',
      '2:41 rewrite.responseHeaders.set.x: not valid, expected text (numbers in quotes) without control characters or outer spaces',
    ],
  ])('%s', (text, problem) => {
    expect(problemLines(checkRoute(`service: a\n${text}`))).toEqual([`r.yaml:${problem}`]);
  });

  it.each([
    'Connection',
    'content-length',
    'HOST',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ])('a rewrite of the field %s', (field) => {
    const changes = `{ set: { ${field}: x }, remove: [${field}] }`;
    const text = `service: a\nrewrite:\n  requestHeaders: ${changes}\n  responseHeaders: ${changes}`;
    const lines = problemLines(checkRoute(text));
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(line).toContain(name);
  });

  it.each([
    '',
    'service: ""',
    'service: 7',
    'service: a/b',
    `service: ${'a'.repeat(129)}`,
    'service: -a',
    'service: [a]',
  ])('%.40s', (text) => {
    expect(problemLines(checkRoute(text))).toEqual([expect.stringContaining('expected a name of letters, digits')]);
  });

  it('a missing key at the key of its mapping', () => {
    expect(problemLines(checkRoute('\n\nbody: 1KiB'))[0]).toMatch(/^r\.yaml:3:1 service: missing/);
    expect(problemLines(checkRoute('service: a\nendpoints:\n  - weight: 3'))[0]).toMatch(
      /^r\.yaml:3:5 endpoints\[0\]\.address/,
    );
  });
});

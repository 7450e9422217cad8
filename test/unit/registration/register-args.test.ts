// The arguments of `weir register`: what they mean, and that all problems are told at once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRegisterArgs } from '../../../gateway/registration/register-args.ts';

const TABLE = ['--registry', 'http://127.0.0.1:8510'];

function read(...words: string[]) {
  return readRegisterArgs(['--name', 'web', '--port', '8080', ...words, '--', 'node', 'server.js', '--port', '1']);
}

/** The options of good words. */
function options(...words: string[]) {
  const parsed = read(...words);
  if (parsed.kind !== 'run') throw new Error(JSON.stringify(parsed));
  return parsed.options;
}

function problems(...words: string[]) {
  const parsed = read(...words);
  return parsed.kind === 'bad' ? parsed.problems : [];
}

describe('good arguments', () => {
  it('need a name, a port and a command, and have defaults', () => {
    const { registry, ...rest } = options();
    expect([registry.kind, registry.url.href]).toEqual(['consul', 'http://127.0.0.1:8500/']);
    expect(rest).toEqual({
      name: 'web',
      port: 8080,
      address: undefined,
      id: undefined,
      weight: 1,
      tags: [],
      meta: {},
      check: { kind: 'heartbeat', intervalMs: 10_000, ttlMs: 30_000 },
      deregisterAfterMs: 60_000,
      drainMs: 5000,
      askAt: undefined,
      command: ['node', 'server.js', '--port', '1'],
    });
  });

  it('may say everything', () => {
    const words = [
      '--address',
      '[2001:DB8::1]',
      '--id',
      'web-1',
      '--weight',
      '0',
      '--tag',
      'v2',
      '--tag=blue',
      '--tag',
      'v2',
    ];
    const more = [
      '--meta',
      'zone=a=b',
      '--meta',
      'empty=',
      '--drain',
      '0s',
      '--deregister-after',
      '90m',
      '--wait',
      '[::1]:80',
    ];
    expect(options(...words, ...more)).toMatchObject({
      address: '2001:db8::1',
      id: 'web-1',
      weight: 0,
      tags: ['v2', 'blue'],
      meta: { zone: 'a=b', empty: '' },
      drainMs: 0,
      deregisterAfterMs: 5_400_000,
      askAt: { host: '::1', port: 80 },
    });
  });

  it.each([
    [['--http', '/health?full=1'], { kind: 'http', path: '/health?full=1', intervalMs: 10_000 }],
    [['--http', '/', '--interval', '3s'], { kind: 'http', path: '/', intervalMs: 3000 }],
    [['--ttl', '15s'], { kind: 'heartbeat', ttlMs: 15_000, intervalMs: 5000 }],
    [['--interval', '4s'], { kind: 'heartbeat', ttlMs: 12_000, intervalMs: 4000 }],
  ])('%s: a heartbeat comes every third of the TTL', (words, check) => {
    expect(options(...words).check).toEqual(check);
    expect(options(...TABLE, ...words).check).toEqual(check);
  });

  it.each([
    ['consul+https://consul.example:8501/agent/', 'consul', 'https://consul.example:8501/agent/'],
    ['http://[::1]:8510', 'table', 'http://[::1]:8510/'],
    ['https://registry.example', 'table', 'https://registry.example/'],
  ])('%s is a registry', (text, kind, href) => {
    const { registry } = options('--registry', text);
    expect([registry.kind, registry.url.href]).toEqual([kind, href]);
  });

  it('may be those of the command: what comes after -- is not looked at', () => {
    const parsed = readRegisterArgs(['--name', 'a', '--port', '1', '--', 'x', '--help', '--', '--nmae']);
    expect(parsed).toMatchObject({ kind: 'run', options: { command: ['x', '--help', '--', '--nmae'] } });
  });

  it('are noted where Consul or the network will not do what they say', () => {
    expect(read('--deregister-after', '59s')).toMatchObject({ notes: [expect.stringContaining('a minute')] });
    const elsewhere = ['--registry', 'consul+http://consul.example', '--address', '127.0.0.1'];
    expect(read(...elsewhere)).toMatchObject({ notes: [expect.stringContaining('this machine only')] });
    expect(read('--address', '127.0.0.1')).toMatchObject({ notes: [] });
  });

  it.each([['--help'], ['-h']])('%s asks for help, whatever else is wrong', (word) => {
    expect(readRegisterArgs([word, '--nmae'])).toEqual({ kind: 'help' });
  });
});

describe('problems', () => {
  it('are told all at once', () => {
    expect(readRegisterArgs(['--nmae', 'web', '--port', '0', '--weight', 'x', '--tag', '--drain', '5'])).toEqual({
      kind: 'bad',
      problems: [
        '--tag needs a value',
        'unknown option "--nmae", did you mean --name?',
        'the command is missing: it comes last, after --',
        '--name is missing',
        '--port: expected a whole number from 1 to 65535, got "0"',
        '--weight: expected a whole number from 0 to 65535, got "x"',
        '--drain: expected a duration such as 500ms, 5s or 2m, got "5"',
      ],
    });
  });

  it.each([
    [['--port', '1'], '--port is given 2 times'],
    [['start'], 'unexpected word "start": the command comes after --'],
    [['--wait'], '--wait needs a value'],
    [['--xyzzy=1'], 'unknown option "--xyzzy"'],
    [['-x'], 'unknown option "-x"'],
    [['--weight', '65536'], '--weight: expected a whole number from 0 to 65535, got "65536"'],
    [['--weight', '1.5'], '--weight: expected a whole number from 0 to 65535, got "1.5"'],
    [['--id', ' a'], '--id: expected 1 to 255 printable characters without blanks around, got "a"'],
    [['--tag='], '--tag: expected 1 to 255 printable characters without blanks around, got ""'],
    [['--address', '0.0.0.0'], expect.stringMatching(/^--address: .*that others can connect to, got "0\.0\.0\.0"$/)],
    [['--address', '10.0.0.5:80'], expect.stringMatching(/^--address: /)],
    [['--wait', '8080'], '--wait: expected an address such as 127.0.0.1:8080 or [::1]:8080, got "8080"'],
    [['--meta', 'zone'], '--meta: expected KEY=VALUE, got "zone"'],
    [['--meta', '=a'], '--meta: expected KEY=VALUE, got "=a"'],
    [['--meta', 'weight=4'], '--meta weight=… is what --weight is for'],
    [['--meta', 'a=1', '--meta', 'a=2'], '--meta "a" is given twice'],
    [['--http', 'health'], '--http: expected a path such as /health, got "health"'],
    [['--http', '/a b'], '--http: expected a path such as /health, got "/a b"'],
    [['--http', '/a', '--ttl', '3s'], expect.stringMatching(/^--http and --ttl exclude each other/)],
    [['--interval', '3s', '--ttl', '9s'], expect.stringMatching(/^--interval and --ttl exclude each other/)],
    [['--interval', '500ms'], '--interval: expected 1000ms to 24h, got "500ms"'],
    [['--drain', '25h'], '--drain: expected 0ms to 24h, got "25h"'],
  ])('%s is told', (words, problem) => {
    expect(problems(...words)).toEqual([problem]);
  });

  it.each([
    [['--meta', 'a.b=1'], expect.stringContaining('"a.b" must have 1 to 128 letters, digits, - or _')],
    [['--meta', 'consul-x=1'], expect.stringContaining('begins with "consul-"')],
    [['--meta', `a=${'x'.repeat(513)}`], expect.stringContaining('longer than the 512 characters')],
    [Array.from({ length: 65 }, (_, at) => `--meta=k${at}=1`), '--meta: 65 entries, but Consul takes 64'],
  ])('of Consul: %s', (words, problem) => {
    expect(problems(...words)).toEqual([problem]);
  });

  it.each([
    [['--deregister-after', '60s'], expect.stringMatching(/^--deregister-after is for Consul/)],
    [['--interval', '11s'], expect.stringMatching(/^--interval is at most 10s/)],
    [['--ttl', '31s'], expect.stringMatching(/^--ttl is at most 30s/)],
    [['--meta', 'tags=a'], '--meta: tags=… is what --tag is for'],
    [['--meta', `a=${'x'.repeat(1023)}`], expect.stringMatching(/^--meta: meta "a" is longer/)],
    [
      Array.from({ length: 9 }, (_, at) => `--tag=${at}${'x'.repeat(200)}`),
      expect.stringContaining('"tags" is longer'),
    ],
    [Array.from({ length: 63 }, (_, at) => `--meta=k${at}=1`), '--meta: 63 entries, but the table registry takes 62'],
  ])('of the table registry: %s', (words, problem) => {
    expect(problems(...TABLE, ...words)).toEqual([problem]);
  });

  it.each([
    'ftp://a',
    '127.0.0.1:8500',
    'consul://127.0.0.1',
    'consul+consul+http://a',
    'http://a/?token=hush',
    'http://me:hush@a',
    'ftp://me:hush@a',
  ])('of the registry do not repeat what may be secret: %s', (text) => {
    const told = problems('--registry', text);
    expect(told).toEqual([expect.stringMatching(/^--registry/)]);
    expect(told.join()).not.toContain('hush');
  });

  it('never throw, whatever the words', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('--', '--name', '--port', '--tag', '--meta=', '-h', '--http', '-'),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const parsed = readRegisterArgs(words);
        if (parsed.kind === 'bad') expect(parsed.problems.length).toBeGreaterThan(0);
      }),
    );
  });
});

// The house rule: imports go down only, and rooms of the top floor meet in the roots.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEWAY = resolve(import.meta.dirname, '../../gateway');

/** The floor of each room; a room imports only from floors below its own. */
const FLOORS: Readonly<Record<string, number>> = {
  core: 0,
  routing: 1,
  balancing: 1,
  resilience: 1,
  http1: 1,
  access: 1,
  tls: 2,
  config: 2,
  shared: 2,
  pool: 2,
  discovery: 3,
  auth: 3,
  proxy: 3,
  registration: 3,
  client: 3,
  admin: 3,
  telemetry: 3,
  tracing: 3,
  threads: 3,
  commands: 4,
  '.': 4,
};

/** Rooms of floor 2 that stand on another room of the same floor. */
const STEPS: ReadonlySet<string> = new Set(['pool → shared', 'config → tls']);

/** Which room may use which package. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  undici: ['discovery', 'client', 'auth'],
  jose: ['auth'],
  bcryptjs: ['auth'],
  'http-proxy-3': ['proxy'],
  pino: ['telemetry'],
  'pino-pretty': ['telemetry'],
  'prom-client': ['telemetry'],
  zod: ['config', 'discovery'],
  yaml: ['config'],
  negotiator: ['proxy'],
  'lru-cache': ['registration', 'proxy', 'auth'],
  'mysql2/promise': ['registration'],
  '@opentelemetry/api': ['tracing'],
  '@opentelemetry/resources': ['tracing'],
  '@opentelemetry/sdk-trace': ['tracing'],
  '@opentelemetry/exporter-trace-otlp-http': ['tracing'],
};

interface Import {
  readonly file: string;
  readonly room: string;
  readonly target: string;
}

function sourceFiles(): string[] {
  return readdirSync(GATEWAY, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(GATEWAY, name));
}

function roomOf(file: string): string {
  return dirname(relative(GATEWAY, file)).split('/')[0] ?? '.';
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(/(?:from|import\()\s*'([^']+)'/g);
  return [...found].map((match) => ({ file: relative(GATEWAY, file), room: roomOf(file), target: match[1] ?? '' }));
}

const imports = sourceFiles().flatMap(importsOf);

describe('the house', () => {
  it('has a floor for every room', () => {
    const rooms = new Set(imports.map(({ room }) => room));
    expect([...rooms].filter((room) => FLOORS[room] === undefined)).toEqual([]);
  });

  it('imports only from floors below', () => {
    const breaches = imports
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, room, target }) => ({ file, room, to: roomOf(resolve(GATEWAY, dirname(file), target)) }))
      .filter(({ room, to }) => room !== to)
      .filter(({ room, to }) => (FLOORS[room] ?? 0) <= (FLOORS[to] ?? 9) && !STEPS.has(`${room} → ${to}`))
      // Commands and roots are one floor: a command starts the supervisor, the command line starts a command.
      .filter(({ room, to }) => !(FLOORS[room] === 4 && FLOORS[to] === 4));
    expect(breaches).toEqual([]);
  });

  it('has no cycle of files', () => {
    const graph = new Map<string, string[]>();
    for (const { file, target } of imports) {
      if (!target.startsWith('.')) continue;
      const to = relative(GATEWAY, resolve(GATEWAY, dirname(file), target));
      graph.set(file, [...(graph.get(file) ?? []), to]);
    }
    expect(cyclesIn(graph)).toEqual([]);
  });

  it('keeps every package in its rooms', () => {
    const breaches = imports
      .filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'))
      .filter(({ room, target }) => !PACKAGES[target]?.includes(room));
    expect(breaches).toEqual([]);
  });

  it('takes time and chance from a clock below the top floor', () => {
    const offenders = sourceFiles()
      .filter((file) => (FLOORS[roomOf(file)] ?? 0) < 3 && !file.endsWith('core/clock.ts'))
      .filter((file) => /Date\.now|Math\.random|process\.env|setTimeout|setInterval/.test(readFileSync(file, 'utf8')));
    expect(offenders).toEqual([]);
  });

  it('tells the one responsibility of every file in its first line', () => {
    const silent = sourceFiles().filter((file) => {
      const [first = '', second = ''] = readFileSync(file, 'utf8').split('\n');
      return !(first.startsWith('#!') ? second : first).startsWith('// ');
    });
    expect(silent).toEqual([]);
  });

  it('has no file over 300 lines', () => {
    const long = sourceFiles().filter((file) => readFileSync(file, 'utf8').split('\n').length > 301);
    expect(long).toEqual([]);
  });
});

function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

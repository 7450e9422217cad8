// The arguments of `weir register`, checked as a whole: what to do, or every problem at once.
import { type Address, isLoopback, parseAddress } from '../core/address.ts';
import { canonicalHost } from '../core/canonical-host.ts';
import { quote } from '../core/quote.ts';
import { parseDuration } from '../core/units.ts';
import type { HealthCheck, RegisterOptions, RegistryAddress } from './register-options.ts';
import { consulMetaFaults, isRegistrableName, tableMetaFaults, tableTagsFaults } from './register-rules.ts';
import { type RegisterOptionName, readRegisterWords } from './register-words.ts';

export type RegisterArgs =
  | { readonly kind: 'help' }
  | { readonly kind: 'bad'; readonly problems: readonly string[] }
  /** The notes are for the operator, who may have meant something else. */
  | { readonly kind: 'run'; readonly options: RegisterOptions; readonly notes: readonly string[] };

const DEFAULT_REGISTRY = 'consul+http://127.0.0.1:8500';
const DEFAULT_INTERVAL_MS = 10_000;
const DEFAULT_DEREGISTER_AFTER_MS = 60_000;
const DEFAULT_DRAIN_MS = 5000;
/** Consul does neither check more often nor forget sooner. */
const CONSUL_MIN_INTERVAL_MS = 1000;
const CONSUL_MIN_DEREGISTER_AFTER_MS = 60_000;
/** The table registry forgets an instance that long after its last heartbeat, and three of them should fit. */
const TABLE_EXPIRY_MS = 30_000;
const HEARTBEATS_IN_TTL = 3;
/** Longer than anything meant, and short enough for a timer. */
const MAX_DURATION_MS = 24 * 3_600_000;

/** Reads the words after `weir register`. */
export function readRegisterArgs(args: readonly string[]): RegisterArgs {
  const words = readRegisterWords(args);
  if (words.isHelp) return { kind: 'help' };
  const reading = new Reading(words.given, words.problems);
  const registry = reading.registry();
  const check = reading.check(registry.kind);
  const deregisterAfterMs = reading.deregisterAfterMs(registry.kind);
  const [program = '', ...programArgs] = words.command;
  const options: RegisterOptions = {
    name: reading.name('name', true),
    port: reading.integer('port', 1, undefined),
    address: reading.address(),
    id: reading.has('id') ? reading.name('id', false) : undefined,
    weight: reading.integer('weight', 0, 1),
    tags: reading.tags(registry.kind),
    meta: reading.meta(registry.kind),
    check,
    deregisterAfterMs,
    drainMs: reading.durationMs('drain', 0, DEFAULT_DRAIN_MS),
    registry,
    askAt: reading.askAt(),
    command: [program, ...programArgs],
  };
  const { problems } = reading;
  if (problems.length > 0) return { kind: 'bad', problems };
  return { kind: 'run', options, notes: notesOn(options) };
}

function notesOn({ registry, deregisterAfterMs, address }: RegisterOptions): string[] {
  const notes: string[] = [];
  if (registry.kind === 'consul' && deregisterAfterMs < CONSUL_MIN_DEREGISTER_AFTER_MS) {
    notes.push('--deregister-after is shorter than Consul allows: it will wait for a minute');
  }
  if (address !== undefined && isLoopback(address) && !isLoopback(hostOf(registry.url))) {
    notes.push(`${address} is this machine only, but the registry is on another one`);
  }
  return notes;
}

/** Takes each option out of what is given; what is wrong is noted and replaced by something harmless. */
class Reading {
  readonly problems: string[];
  readonly #given: ReadonlyMap<string, readonly string[]>;

  constructor(given: ReadonlyMap<string, readonly string[]>, problems: readonly string[]) {
    this.#given = given;
    this.problems = [...problems];
  }

  has(name: RegisterOptionName): boolean {
    return this.#given.has(name);
  }

  name(name: 'name' | 'id', isRequired: boolean): string {
    const text = this.#text(name);
    if (text === undefined) {
      if (isRequired) this.problems.push(`--${name} is missing`);
      return '';
    }
    if (!isRegistrableName(text)) this.#refuse(name, text, '1 to 255 printable characters without blanks around');
    return text;
  }

  integer(name: 'port' | 'weight', min: number, fallback: number | undefined): number {
    const text = this.#text(name);
    if (text === undefined) {
      if (fallback === undefined) this.problems.push(`--${name} is missing`);
      return fallback ?? min;
    }
    const value = /^\d{1,5}$/.test(text) ? Number(text) : -1;
    if (value < min || value > 65_535) this.#refuse(name, text, `a whole number from ${min} to 65535`);
    return value;
  }

  durationMs(name: 'drain' | 'ttl' | 'interval' | 'deregister-after', minMs: number, fallbackMs: number): number {
    const text = this.#text(name);
    if (text === undefined) return fallbackMs;
    const value = parseDuration(text);
    if (value === undefined) this.#refuse(name, text, 'a duration such as 500ms, 5s or 2m');
    else if (value < minMs || value > MAX_DURATION_MS) this.#refuse(name, text, `${minMs}ms to 24h`);
    return value ?? fallbackMs;
  }

  address(): string | undefined {
    const text = this.#text('address');
    if (text === undefined) return undefined;
    const host = canonicalHost(text);
    if (host === undefined) this.#refuse('address', text, 'a host name or an IP address that others can connect to');
    return host;
  }

  askAt(): Address | undefined {
    const text = this.#text('wait');
    if (text === undefined) return undefined;
    const address = parseAddress(text);
    if (address === undefined) this.#refuse('wait', text, 'an address such as 127.0.0.1:8080 or [::1]:8080');
    return address;
  }

  registry(): RegistryAddress {
    const text = this.#text('registry') ?? DEFAULT_REGISTRY;
    const isConsul = text.startsWith('consul+');
    const url = URL.parse(isConsul ? text.slice('consul+'.length) : text);
    const isUsable = url !== null && ['http:', 'https:'].includes(url.protocol) && url.search + url.hash === '';
    // What is no such URL may still hold a password, so it is not repeated.
    if (!isUsable)
      this.problems.push(`--registry: expected a URL such as ${DEFAULT_REGISTRY} or http://127.0.0.1:8510`);
    else if (url.username + url.password !== '') {
      this.problems.push(
        '--registry must not have a user name or a password: what is secret comes from the environment',
      );
    }
    return { kind: isConsul ? 'consul' : 'table', url: isUsable ? url : new URL('http://127.0.0.1') };
  }

  check(registry: RegistryAddress['kind']): HealthCheck {
    const ttlMs = this.durationMs('ttl', 1000, DEFAULT_INTERVAL_MS * HEARTBEATS_IN_TTL);
    const intervalMs = this.durationMs('interval', CONSUL_MIN_INTERVAL_MS, DEFAULT_INTERVAL_MS);
    if (registry === 'table') this.#checkTableTimes(intervalMs, ttlMs);
    if (this.has('ttl') && this.has('http')) {
      this.problems.push('--http and --ttl exclude each other: one says who checks, the other that nobody does');
    }
    if (this.has('ttl') && this.has('interval')) {
      this.problems.push('--interval and --ttl exclude each other: a heartbeat is sent every third of the TTL');
    }
    if (this.has('ttl')) return { kind: 'heartbeat', intervalMs: Math.floor(ttlMs / HEARTBEATS_IN_TTL), ttlMs };
    const path = this.#text('http');
    if (path === undefined) return { kind: 'heartbeat', intervalMs, ttlMs: intervalMs * HEARTBEATS_IN_TTL };
    if (!/^\/[\x21-\x7e]*$/.test(path) || path.includes('#')) this.#refuse('http', path, 'a path such as /health');
    return { kind: 'http', path, intervalMs };
  }

  deregisterAfterMs(registry: RegistryAddress['kind']): number {
    if (registry === 'table' && this.has('deregister-after')) {
      this.problems.push(
        '--deregister-after is for Consul: the table registry forgets an instance after 30s of silence',
      );
    }
    return this.durationMs('deregister-after', 1000, DEFAULT_DEREGISTER_AFTER_MS);
  }

  tags(registry: RegistryAddress['kind']): string[] {
    const tags = [...new Set(this.#given.get('tag'))];
    for (const tag of tags) {
      if (!isRegistrableName(tag)) this.#refuse('tag', tag, '1 to 255 printable characters without blanks around');
    }
    if (registry === 'table') this.problems.push(...tableTagsFaults(tags));
    return tags;
  }

  meta(registry: RegistryAddress['kind']): Record<string, string> {
    const meta = new Map<string, string>();
    for (const text of this.#given.get('meta') ?? []) {
      const equals = text.indexOf('=');
      const key = text.slice(0, equals);
      if (equals <= 0) this.#refuse('meta', text, 'KEY=VALUE');
      else if (key === 'weight') this.problems.push('--meta weight=… is what --weight is for');
      else if (meta.has(key)) this.problems.push(`--meta ${quote(key)} is given twice`);
      else meta.set(key, text.slice(equals + 1));
    }
    const faults = registry === 'consul' ? consulMetaFaults(meta) : tableMetaFaults(meta);
    this.problems.push(...faults.map((fault) => `--meta: ${fault}`));
    return Object.fromEntries(meta);
  }

  #checkTableTimes(intervalMs: number, ttlMs: number): void {
    if (intervalMs > TABLE_EXPIRY_MS / HEARTBEATS_IN_TTL) {
      this.problems.push('--interval is at most 10s: the table registry forgets an instance after 30s of silence');
    }
    if (ttlMs > TABLE_EXPIRY_MS) {
      this.problems.push('--ttl is at most 30s: the table registry forgets an instance after 30s of silence');
    }
  }

  #text(name: RegisterOptionName): string | undefined {
    return this.#given.get(name)?.[0];
  }

  #refuse(name: RegisterOptionName, text: string, expected: string): void {
    this.problems.push(`--${name}: expected ${expected}, got ${quote(text)}`);
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

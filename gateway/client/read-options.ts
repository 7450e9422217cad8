// The options as they are written become a configuration like that of the gateway, or an error with every problem.
import type { ConfigDocument } from '../config/document.ts';
import { type GatewayConfig, gatewaySchema } from '../config/gateway-schema.ts';
import { gatewayJsonSchema, routeJsonSchema } from '../config/json-schema.ts';
import { formatPath, type Path, type Problem } from '../config/problem.ts';
import { type RouteConfig, routeSchema } from '../config/route-schema.ts';
import { suggest } from '../config/suggest.ts';
import { validate } from '../config/validate.ts';
import { parseDuration } from '../core/units.ts';
import type { DiscoveryDispatcherOptions, ServiceOptions } from './options.ts';
import { WeirError } from './weir-error.ts';

export interface ReadOptions {
  readonly gateway: GatewayConfig;
  /** One for each service, named like it. */
  readonly routes: readonly RouteConfig[];
  readonly readyTimeoutMs: number;
}

const SOURCES = ['consul', 'registry', 'dns', 'etcd'] as const;
const DISCOVERY_KEYS = [...SOURCES, 'confirmEmpty', 'holdLastGood'] as const;
const KEYS: readonly string[] = ['services', ...DISCOVERY_KEYS, 'readyTimeout', 'fallback', 'log'];

/** The sections of a route that mean something without a gateway. */
const SERVICE_KEYS: readonly (keyof ServiceOptions)[] = [
  'source',
  'endpoints',
  'protocol',
  'balance',
  'subset',
  'split',
  'timeout',
  'retry',
  'ejection',
  'slowStart',
  'breaker',
];

const PROTOCOLS: readonly string[] = ['http', 'https'];
const LOG_METHODS = ['debug', 'info', 'warn', 'error'] as const;

/** Throws a WeirError (`WEIR_BAD_OPTIONS`) that names every problem. */
export function readOptions(options: DiscoveryDispatcherOptions): ReadOptions {
  const reading = new Reading(options);
  const read = reading.read();
  if (reading.problems.length === 0 && read !== undefined) return read;
  const lines = reading.problems.map(formatOptionProblem);
  throw new WeirError('WEIR_BAD_OPTIONS', ['the options of the dispatcher are wrong:', ...lines].join('\n  '));
}

class Reading {
  readonly problems: Problem[] = [];
  readonly #options: DiscoveryDispatcherOptions;

  constructor(options: DiscoveryDispatcherOptions) {
    this.#options = options;
  }

  read(): ReadOptions | undefined {
    this.#refuseUnknown(this.#options, KEYS, []);
    this.#checkObjects();
    const gateway = this.#gateway();
    const services = this.#services();
    this.#checkHosts(services.map(([name]) => name));
    const routes = services.flatMap(([name, service]) => this.#route(name, service) ?? []);
    const readyTimeoutMs = this.#readyTimeoutMs();
    return gateway === undefined ? undefined : { gateway, routes, readyTimeoutMs };
  }

  #gateway(): GatewayConfig | undefined {
    const discovery = Object.fromEntries(DISCOVERY_KEYS.map((key) => [key, this.#options[key]]));
    const document = this.#document({ discovery: defined(discovery) }, ([_discovery, ...path]) => path);
    const result = validate(document, { schema: gatewaySchema, jsonSchema: gatewayJsonSchema });
    if (result.ok) return result.value;
    this.problems.push(...result.problems);
    return undefined;
  }

  #services(): [string, ServiceOptions][] {
    const services: unknown = this.#options.services;
    const isNamed = (name: unknown): name is string => typeof name === 'string';
    if (Array.isArray(services) && services.length > 0 && services.every(isNamed)) {
      return services.map((name) => [name, {}]);
    }
    if (isMapping(services) && Object.keys(services).length > 0) {
      return Object.entries(services).map(([name, service]) => [name, service ?? {}]);
    }
    this.#add(['services'], {
      message: 'not valid',
      expected: 'a list of names, or an object with options by name; not empty',
    });
    return [];
  }

  #route(name: string, options: ServiceOptions): RouteConfig | undefined {
    const path = ['services', name];
    if (!isMapping(options)) {
      this.#add(path, { message: 'not valid', expected: 'an object with options' });
      return undefined;
    }
    this.#refuseUnknown(options, SERVICE_KEYS, path);
    this.#checkMeaning(options, path);
    const known = Object.fromEntries(SERVICE_KEYS.map((key) => [key, options[key]]));
    const document = this.#document(defined({ service: name, ...known }), (within) => {
      return within[0] === 'service' ? path : [...path, ...within];
    });
    const result = validate(document, { schema: routeSchema, jsonSchema: routeJsonSchema });
    if (!result.ok) {
      this.problems.push(...result.problems);
      return undefined;
    }
    if (!PROTOCOLS.includes(result.value.protocol)) {
      this.#add([...path, 'protocol'], { message: 'not supported here', expected: PROTOCOLS.join(' or ') });
    }
    return { name, file: '', ...result.value, source: result.value.source ?? this.#source(path) };
  }

  /** The source of a service that names none. */
  #source(path: Path): RouteConfig['source'] {
    const [first, second] = SOURCES.filter((source) => this.#options[source] !== undefined);
    if (first === undefined) {
      this.#add(path, { message: 'no source', expected: `${SOURCES.join(', ')} of the dispatcher to be set` });
    } else if (second !== undefined) {
      this.#add([...path, 'source'], { message: 'missing', expected: `${first} or ${second}: both are set` });
    }
    return first ?? 'static';
  }

  /** Whether URLs can name them: other letters may become another name, and numbers an address. */
  #checkHosts(names: readonly string[]): void {
    const known = new Map<string, string>();
    for (const name of names) {
      const host = name.toLowerCase();
      const twin = known.get(host);
      known.set(host, name);
      if (URL.parse(`http://${name}/`)?.hostname !== host) {
        this.#add(['services', name], { message: 'not valid', expected: 'a name that can be the host of a URL' });
      }
      if (twin !== undefined) this.#add(['services', name], { message: `the same host in a URL as ${twin}` });
    }
  }

  /** What a route may say, but not a service of a dispatcher. */
  #checkMeaning(options: Readonly<Record<string, unknown>>, path: Path): void {
    const { source, balance } = options;
    if (isMapping(balance) && isMapping(balance.hash) && balance.hash.on === 'client_ip') {
      this.#add([...path, 'balance', 'hash', 'on'], { message: 'there is no client here' });
    }
    const isMissing = SOURCES.some((each) => each === source && this.#options[each] === undefined);
    if (isMissing) this.#add([...path, 'source'], { message: `the option ${source} is missing` });
  }

  #checkObjects(): void {
    const { fallback, log } = this.#options;
    if (fallback !== undefined && typeof fallback.dispatch !== 'function') {
      this.#add(['fallback'], { message: 'not valid', expected: 'a dispatcher of undici' });
    }
    if (log !== undefined && LOG_METHODS.some((method) => typeof log[method] !== 'function')) {
      this.#add(['log'], { message: 'not valid', expected: `an object with ${LOG_METHODS.join(', ')}` });
    }
  }

  #readyTimeoutMs(): number {
    const { readyTimeout = '5s' } = this.#options;
    const ms = typeof readyTimeout === 'string' ? parseDuration(readyTimeout) : undefined;
    if (ms !== undefined && ms < 2 ** 31) return ms;
    this.#add(['readyTimeout'], { message: 'not valid', expected: 'a duration like 5s or 250ms' });
    return 0;
  }

  #refuseUnknown(given: object, known: readonly string[], path: Path): void {
    for (const [key, value] of Object.entries(given)) {
      if (known.includes(key) || value === undefined) continue;
      const suggestion = suggest(key, known);
      const fault = { message: 'unknown key', ...(suggestion !== undefined && { suggestion }) };
      this.#add([...path, key], fault);
    }
  }

  #add(path: Path, fault: Pick<Problem, 'message' | 'expected' | 'suggestion'>): void {
    this.problems.push(problemAt(path, fault));
  }

  /** `place` turns a path within the value into one within the options. */
  #document(value: unknown, place: (path: Path) => Path): ConfigDocument {
    return {
      file: '',
      value,
      isReadable: true,
      problems: [],
      substituted: [],
      problemAt: (path, _part, fault) => problemAt(place(path), fault),
    };
  }
}

function problemAt(path: Path, fault: Pick<Problem, 'message' | 'expected' | 'suggestion'>): Problem {
  return { file: '', line: 1, column: 1, key: formatPath(path), ...fault };
}

function formatOptionProblem({ key, message, expected, suggestion }: Problem): string {
  const wanted = expected === undefined ? '' : `, expected ${expected}`;
  const meant = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
  return `${key}: ${message}${wanted}${meant}`;
}

/** The value without keys that are undefined: so that an option may be given as one that may be missing. */
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (!isMapping(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, defined(each)]));
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

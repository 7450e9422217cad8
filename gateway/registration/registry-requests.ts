// What callers of the table registry may send: each input checked, each fault told in a sentence.
import { canonicalHost } from '../core/canonical-host.ts';
import { describeValue, quote } from '../core/quote.ts';
import type { InstanceKey, ListedInstance, MetaValue, Registration } from './store.ts';

/** A checked input, or what is wrong with it. */
export type Checked<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'bad'; readonly error: string };

/** What `GET /instances` asks for: a service, and the meta its instances must have. */
export interface InstancesQuery {
  readonly service: string;
  readonly meta: ReadonlyMap<string, string>;
}

/** Longest service name, instance ID and meta key, in characters; longest meta value; most meta entries. */
export const MAX_NAME_LENGTH = 255;
const MAX_META_KEY_LENGTH = 128;
const MAX_META_VALUE_LENGTH = 1024;
const MAX_META_ENTRIES = 64;

/** Most parameters of a question. */
const MAX_PARAMETERS = 32;

const REGISTRATION_KEYS = ['service', 'instance', 'addr', 'port', 'meta'];

/** Checks the body of `POST /register`: `{service, instance, addr, port, meta}`, of which meta may be absent. */
export function readRegistration(body: unknown): Checked<Registration> {
  if (!isObject(body)) return bad(`the body must be a JSON object, got ${describeValue(body)}`);
  const unknownKey = Object.keys(body).find((key) => !REGISTRATION_KEYS.includes(key));
  if (unknownKey !== undefined) {
    return bad(`unknown key ${quote(unknownKey)}: known are ${REGISTRATION_KEYS.join(', ')}`);
  }
  const key = readInstanceKey(body);
  if (key.kind === 'bad') return key;
  const { addr, port, meta = {} } = body;
  const host = typeof addr === 'string' ? canonicalHost(addr) : undefined;
  if (host === undefined)
    return bad(`addr must be a host name or an IP address that can be connected to, got ${describeValue(addr)}`);
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535) {
    return bad(`port must be an integer 1..65535, got ${describeValue(port)}`);
  }
  const fault = metaFault(meta);
  if (fault !== null || !isMeta(meta)) return bad(fault ?? 'meta must be an object');
  return ok({ ...key.value, addr: host, port, meta });
}

/** Checks `{service, instance}`, from the body or the parameters of `DELETE /register`. */
export function readInstanceKey(input: unknown): Checked<InstanceKey> {
  if (!isObject(input)) return bad(`the body must be a JSON object, got ${describeValue(input)}`);
  const { service, instance } = input;
  if (!isName(service)) return bad(nameFault('service', service));
  if (!isName(instance)) return bad(nameFault('instance', instance));
  return ok({ service, instance });
}

/** Checks the parameters of `GET /instances`: `service`, and any others as filters on meta; none may be given twice. */
export function readInstancesQuery(parameters: URLSearchParams): Checked<InstancesQuery> {
  const fault = parametersFault(parameters);
  if (fault !== null) return bad(fault);
  const service = parameters.get('service') ?? undefined;
  if (!isName(service)) return bad(nameFault('service', service));
  const meta = new Map(parameters);
  meta.delete('service');
  return ok({ service, meta });
}

/** Why the parameters cannot be understood, whatever their values: too many, or one twice; null when they can. */
export function parametersFault(parameters: URLSearchParams): string | null {
  if (parameters.size > MAX_PARAMETERS) return `there are ${parameters.size} parameters, at most ${MAX_PARAMETERS} fit`;
  const twice = parameters.keys().find((name) => parameters.getAll(name).length > 1);
  return twice === undefined ? null : `parameter ${quote(twice)} is given twice`;
}

/** Whether the instance has each of the meta entries: a value is compared as text, a list must contain it. */
export function hasMeta(instance: ListedInstance, wanted: InstancesQuery['meta']): boolean {
  return wanted.entries().every(([key, text]) => {
    const value = Object.hasOwn(instance.meta, key) ? instance.meta[key] : undefined;
    return Array.isArray(value) ? value.includes(text) : value !== undefined && String(value) === text;
  });
}

function metaFault(meta: unknown): string | null {
  if (!isObject(meta)) return `meta must be an object, got ${describeValue(meta)}`;
  const entries = Object.entries(meta);
  if (entries.length > MAX_META_ENTRIES) return `meta has ${entries.length} entries, at most ${MAX_META_ENTRIES} fit`;
  for (const [key, value] of entries) {
    if (key === '' || key.length > MAX_META_KEY_LENGTH || !isPrintable(key)) {
      return `meta key ${quote(key)} must have 1..${MAX_META_KEY_LENGTH} printable characters`;
    }
    if (!isMetaValue(value)) {
      return `meta ${quote(key)} must be a string, a number, true, false or a list of strings, got ${describeValue(value)}`;
    }
    if (JSON.stringify(value).length > MAX_META_VALUE_LENGTH) {
      return `meta ${quote(key)} is longer than ${MAX_META_VALUE_LENGTH} characters`;
    }
  }
  return null;
}

/** What is wrong with the name of a service or instance. */
export function nameFault(what: string, value: unknown): string {
  if (value === undefined || value === '') return `${what} is missing`;
  return `${what} must be 1..${MAX_NAME_LENGTH} printable characters without blanks around, got ${describeValue(value)}`;
}

export function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_NAME_LENGTH) return false;
  return value.trim() === value && isPrintable(value);
}

function isPrintable(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

function isMetaValue(value: unknown): value is MetaValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function isMeta(value: unknown): value is Registration['meta'] {
  return isObject(value) && Object.values(value).every(isMetaValue);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function ok<T>(value: T): Checked<T> {
  return { kind: 'ok', value };
}

export function bad(error: string): { readonly kind: 'bad'; readonly error: string } {
  return { kind: 'bad', error };
}

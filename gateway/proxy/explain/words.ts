// How explanations write parts of a configuration: as the operator has written them.
import type { RouteConfig } from '../../config/route-schema.ts';
import type { GroupLabels } from '../../pool/group.ts';
import { cookieOf, type KeyPart } from '../routes/request-key.ts';

/** Each with the smallest part of it that is written. */
const UNITS = [
  ['h', 3_600_000, 3_600_000],
  ['m', 60_000, 60_000],
  ['s', 1000, 100],
] as const;

/** Like `250ms`, `1.5s`, `2m`; `off` for Infinity. */
export function durationWords(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return 'off';
  const [unit, size] = UNITS.find(([, each, part]) => ms >= each && ms % part === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

/** Like `512B`, `64KiB`, `1.5MiB`. */
export function sizeWords(bytes: number): string {
  const [unit, size] = bytes >= 1024 ** 2 ? ['MiB', 1024 ** 2] : bytes >= 1024 ? ['KiB', 1024] : ['B', 1];
  return `${Math.round((bytes / Number(size)) * 10) / 10}${unit}`;
}

/** Like `100/s` or `10/30s`. */
export function rateWords(count: number, periodMs: number): string {
  return `${count}/${durationWords(periodMs).replace(/^1(?=[a-z])/, '')}`;
}

/** Like `header x-user-id` or `client_ip`. */
export function partWords({ on, name }: KeyPart): string {
  return name === null ? on : `${on} ${name}`;
}

/** What a branch of a split wants of the requests that its rule sends there; null without a rule. */
export function ruleWords(when: RouteConfig['split'][number]['when']): string | null {
  if (when === null) return null;
  return `${when.on} ${when.name} ${when.equals === '*' ? 'is present' : `is "${when.equals}"`}`;
}

/** The value that a request has for a rule; undefined when it has none. */
export function ruleValue(
  when: NonNullable<RouteConfig['split'][number]['when']>,
  header: (name: string) => string | undefined,
): string | undefined {
  return when.on === 'header' ? header(when.name) : cookieOf(header('cookie') ?? '', when.name);
}

/** What an endpoint lacks to carry the labels; null when it carries all of them. */
export function lackOf({ tags, meta }: GroupLabels, labels: GroupLabels): string | null {
  const lacking = labels.tags.filter((tag) => !tags.includes(tag)).map((tag) => `the tag ${tag}`);
  const differing = Object.entries(labels.meta)
    .filter(([key, value]) => !Object.hasOwn(meta, key) || meta[key] !== value)
    .map(([key, value]) => `meta ${key}=${value}`);
  const all = [...lacking, ...differing];
  return all.length === 0 ? null : `lacks ${all.join(' and ')}`;
}

/** `1 request`, `2 requests`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

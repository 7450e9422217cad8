// The document of /debug/config: what is in force, without secrets, and what is not in force although it is written.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';

/** Keys whose values are secrets, wherever they stand; header fields that are set or asked for are among them. */
const SECRET_KEY = /token|password|secret|credential|authorization|cookie|api-?key/i;

/** Keys under which there are values of header fields that are set or asked for. */
const FIELD_MAPS: readonly string[] = ['set', 'headers', 'equals'];

/** Everything that is in force, as plain data; `quarantined` are the files that are not. */
export function configDocument(
  gateway: GatewayConfig,
  routes: readonly RouteConfig[],
  quarantined: readonly object[],
): object {
  return { gateway: masked(gateway), routes: routes.map(masked), quarantined };
}

function masked(value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return 'off';
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      if (FIELD_MAPS.includes(key)) return [key, withoutValues(part)];
      return [key, isSecret(key, part) ? '***' : masked(part)];
    }),
  );
}

/** Values of header fields, whatever their names: `*` says only that a field is there. */
function withoutValues(value: unknown): unknown {
  if (typeof value === 'string') return value === '*' || value === '' ? value : '***';
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutValues(part)]));
}

function isSecret(key: string, value: unknown): boolean {
  return SECRET_KEY.test(key) && typeof value === 'string' && value !== '';
}

/** URLs may carry a user and a password, which may hold an @ of its own, and keys in their query. */
function withoutCredentials(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1***@')
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^?#]*\?).+/i, '$1***');
}

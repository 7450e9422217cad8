// What each registry takes for names and meta, so that a registration is not refused again and again.
import { quote } from '../core/quote.ts';
import { readInstanceKey, readRegistration } from './registry-requests.ts';
import type { Registration } from './store.ts';

/** Whether a service name, an instance ID or a tag has 1..255 printable characters without blanks around. */
export function isRegistrableName(text: string): boolean {
  return readInstanceKey({ service: text, instance: text }).kind === 'ok';
}

/** What Consul refuses of the meta (its `ValidateServiceMetadata`): one sentence a fault, none when all is well. */
export function consulMetaFaults(meta: ReadonlyMap<string, string>): string[] {
  const faults = meta.size > 64 ? [`${meta.size} entries, but Consul takes 64`] : [];
  for (const [key, value] of meta) {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(key)) {
      faults.push(`the key ${quote(key)} must have 1 to 128 letters, digits, - or _ for Consul`);
    }
    if (key.startsWith('consul-'))
      faults.push(`the key ${quote(key)} begins with "consul-", which Consul keeps for itself`);
    if (value.length > 512)
      faults.push(`the value of ${quote(key)} is longer than the 512 characters that Consul takes`);
  }
  return faults;
}

/** What the table registry refuses of the meta, by its own check; `tags` and the weight come from other options. */
export function tableMetaFaults(meta: ReadonlyMap<string, string>): string[] {
  const faults = meta.size > 62 ? [`${meta.size} entries, but the table registry takes 62`] : [];
  if (meta.has('tags')) faults.push('tags=… is what --tag is for');
  return [...faults, ...meta.entries().flatMap(([key, value]) => refusal({ [key]: value }))];
}

/** What the table registry refuses of the tags as a whole, which are an entry of its meta. */
export function tableTagsFaults(tags: readonly string[]): string[] {
  return refusal({ tags });
}

function refusal(meta: Registration['meta']): string[] {
  const checked = readRegistration({ service: 's', instance: 'i', addr: 'h', port: 1, meta });
  return checked.kind === 'ok' ? [] : [checked.error];
}

// The head of a request as the handler sees it, from a few field lines.
import { FieldTable } from '../../gateway/http1/field-table.ts';
import type { ClientPeer } from '../../gateway/proxy/client-address.ts';
import type { RequestDescription } from '../../gateway/proxy/exchange.ts';

/** `fields` are lines like `Accept: text/html`. */
export interface RequestParts {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  readonly fields?: readonly string[];
}

/** Field lines as the codec reads them. */
export function fieldTable(lines: readonly string[]): FieldTable {
  const text = lines.map((line) => `${line}\r\n`).join('');
  const table = new FieldTable(100);
  const violation = table.parse(text, 0, text.length);
  if (violation !== null) throw new Error(violation);
  return table;
}

export function describedRequest(parts: RequestParts = {}): RequestDescription {
  return new DescribedRequest(parts);
}

/** A class as the exchange of a client is one: its `header` belongs to it, and cannot be called on its own. */
class DescribedRequest implements RequestDescription {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly fields: FieldTable;
  readonly peer: ClientPeer = { address: '192.0.2.1', isTrusted: false };

  constructor({ method = 'GET', target = '/', host = 'shop.example.com', fields = [] }: RequestParts) {
    this.method = method;
    this.target = target;
    this.host = host;
    this.fields = fieldTable(fields);
  }

  header(name: string): string | undefined {
    return this.fields.get(name);
  }
}

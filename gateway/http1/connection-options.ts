// What the Connection fields of a message say: whether the connection lives on, and which fields are its own.
import { equalsIgnoringCase, FIELD } from './field-id.ts';
import type { FieldTable } from './field-table.ts';
import { trimBlanks } from './octets.ts';

export interface ConnectionOptions {
  /** Whether the sender will use the connection again (RFC 9112 section 9.3). */
  readonly isPersistent: boolean;
  /** Whether the sender asks for an upgrade. */
  readonly isUpgrade: boolean;
  /** Lower-case names of fields that belong to this connection only; null when there are none. */
  readonly nominated: ReadonlySet<string> | null;
}

const LIVES_ON: ConnectionOptions = { isPersistent: true, isUpgrade: false, nominated: null };
const ENDS: ConnectionOptions = { isPersistent: false, isUpgrade: false, nominated: null };

/** Reads the options of a message whose version ends in `minor`. */
export function connectionOptions(fields: FieldTable, minor: number): ConnectionOptions {
  const first = fields.find(FIELD.connection);
  if (first === -1) return minor === 1 ? LIVES_ON : ENDS;
  const value = fields.value(first);
  // Nearly every message says one of these two words and nothing else.
  if (value.length === 10 && equalsIgnoringCase(value, 0, 'keep-alive'))
    return unlessMore(fields, first, LIVES_ON, minor);
  if (value.length === 5 && equalsIgnoringCase(value, 0, 'close')) return unlessMore(fields, first, ENDS, minor);
  return readAll(fields, minor);
}

function unlessMore(fields: FieldTable, first: number, options: ConnectionOptions, minor: number): ConnectionOptions {
  for (let field = first + 1; field < fields.count; field++) {
    if (fields.id(field) === FIELD.connection) return readAll(fields, minor);
  }
  return options;
}

function readAll(fields: FieldTable, minor: number): ConnectionOptions {
  const words = new Set<string>();
  for (let field = 0; field < fields.count; field++) {
    if (fields.id(field) !== FIELD.connection) continue;
    for (const word of fields.value(field).split(',')) words.add(trimBlanks(word).toLowerCase());
  }
  const isPersistent = words.has('close') ? false : minor === 1 || words.has('keep-alive');
  const isUpgrade = words.has('upgrade');
  for (const word of ['close', 'keep-alive', 'upgrade', '']) words.delete(word);
  return { isPersistent, isUpgrade, nominated: words.size === 0 ? null : words };
}

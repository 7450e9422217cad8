// The fields of one message as places in its text: parsed strictly, copied only when somebody asks.
import { equalsIgnoringCase, fieldId } from './field-id.ts';
import { COLON, CR, IS_TOKEN, IS_VALUE, isBlank, LF } from './octets.ts';
import type { Violation } from './violation.ts';

/** Name start, name end, value start, value end. */
const PLACES = 4;

/**
 * Field lines of a head or a trailer section. One table serves message after message; what it says is of the text that
 * was parsed last.
 */
export class FieldTable {
  readonly #places: Int32Array;
  readonly #ids: Uint8Array;
  readonly #maxFields: number;
  #text = '';
  /** Where the last line ends, behind its CRLF. */
  #end = 0;
  count = 0;

  constructor(maxFields: number) {
    this.#maxFields = maxFields;
    this.#places = new Int32Array(maxFields * PLACES);
    this.#ids = new Uint8Array(maxFields);
  }

  /** Reads the lines of `text` (Latin-1) from `start` to `end`, which stands behind the CRLF of the last one. */
  parse(text: string, start: number, end: number): Violation | null {
    this.#text = text;
    this.#end = end;
    this.count = 0;
    let at = start;
    while (at < end) {
      if (this.count === this.#maxFields) return 'too many fields';
      const nameStart = at;
      while (IS_TOKEN[text.charCodeAt(at)] === 1) at++;
      if (at === nameStart || text.charCodeAt(at) !== COLON) return brokenName(text, nameStart, at);
      const nameEnd = at++;
      while (isBlank(text.charCodeAt(at))) at++;
      const valueStart = at;
      while (IS_VALUE[text.charCodeAt(at)] === 1) at++;
      let valueEnd = at;
      if (text.charCodeAt(at) !== CR || text.charCodeAt(at + 1) !== LF) return brokenValue(text, at);
      while (valueEnd > valueStart && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd--;
      at += 2;
      this.#add(nameStart, nameEnd, valueStart, valueEnd);
    }
    return null;
  }

  /** The meaning of field `field` (0..count-1), one of FIELD. */
  id(field: number): number {
    return this.#ids[field] ?? 0;
  }

  name(field: number): string {
    return this.#text.substring(this.nameStart(field), this.#places[field * PLACES + 1] ?? 0);
  }

  value(field: number): string {
    return this.#text.substring(this.#places[field * PLACES + 2] ?? 0, this.#places[field * PLACES + 3] ?? 0);
  }

  /** Whether the field has that value, to the letter. */
  isValue(field: number, value: string): boolean {
    const start = this.#places[field * PLACES + 2] ?? 0;
    return (this.#places[field * PLACES + 3] ?? 0) - start === value.length && this.#text.startsWith(value, start);
  }

  nameStart(field: number): number {
    return this.#places[field * PLACES] ?? 0;
  }

  /** Behind the CRLF of the field's line: where the next begins. */
  lineEnd(field: number): number {
    return field + 1 < this.count ? this.nameStart(field + 1) : this.#end;
  }

  /** The lines from field `from` to before field `to` as they stand in the text. */
  lines(from: number, to: number): string {
    return from >= to ? '' : this.#text.substring(this.nameStart(from), this.lineEnd(to - 1));
  }

  /** The first field of that meaning; -1 when there is none. */
  find(id: number): number {
    for (let field = 0; field < this.count; field++) if (this.#ids[field] === id) return field;
    return -1;
  }

  /** All values of the fields with that lower-case name, joined by a comma; undefined when there is none. */
  get(name: string): string | undefined {
    let joined: string | undefined;
    for (let field = 0; field < this.count; field++) {
      if (!this.isNamed(field, name)) continue;
      joined = joined === undefined ? this.value(field) : `${joined}, ${this.value(field)}`;
    }
    return joined;
  }

  /** Whether the field has that lower-case name. */
  isNamed(field: number, name: string): boolean {
    const start = this.nameStart(field);
    const length = (this.#places[field * PLACES + 1] ?? 0) - start;
    return length === name.length && equalsIgnoringCase(this.#text, start, name);
  }

  #add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    const place = this.count * PLACES;
    this.#places[place] = nameStart;
    this.#places[place + 1] = nameEnd;
    this.#places[place + 2] = valueStart;
    this.#places[place + 3] = valueEnd;
    this.#ids[this.count++] = fieldId(this.#text, nameStart, nameEnd);
  }
}

function brokenName(text: string, start: number, at: number): Violation {
  const octet = text.charCodeAt(at);
  if (at === start && isBlank(octet)) return 'folded line';
  if (at > start && isBlank(octet)) return 'space before colon';
  const isBare = octet === LF || (octet === CR && text.charCodeAt(at + 1) !== LF);
  return isBare ? 'bare line end' : 'malformed field name';
}

function brokenValue(text: string, at: number): Violation {
  const octet = text.charCodeAt(at);
  return octet === CR || octet === LF ? 'bare line end' : 'control octet in a field value';
}

// The header fields of a request, in whichever of undici's forms they came, as one flat list.
import { type Dispatcher, errors } from 'undici';

type GivenFields = Dispatcher.DispatchOptions['headers'];

/** The fields of one request, the same for all of its attempts. */
export class RequestFields {
  /** Names and values by turns. */
  readonly lines: string[];

  /** Adds `Host: <host>` where there is none. Throws undici's InvalidArgumentError for what is no list of fields. */
  constructor(given: GivenFields, host: string) {
    const lines = flatten(given);
    this.lines = lines;
    if (this.get('host') === undefined) lines.push('host', host);
  }

  /** The values of a field by its lower-case name, joined; undefined when it is absent. */
  get(name: string): string | undefined {
    let value: string | undefined;
    for (let at = 0; at < this.lines.length; at += 2) {
      const line = this.lines[at];
      if (line?.length !== name.length || line.toLowerCase() !== name) continue;
      value = value === undefined ? (this.lines[at + 1] ?? '') : `${value}, ${this.lines[at + 1]}`;
    }
    return value;
  }
}

function flatten(given: GivenFields): string[] {
  const lines: string[] = [];
  if (given === null || given === undefined) return lines;
  if (Array.isArray(given) && !Array.isArray(given[0])) {
    if (given.length % 2 !== 0) throw new errors.InvalidArgumentError('headers array must be even');
    for (let at = 0; at < given.length; at += 2) add(lines, String(given[at]), given[at + 1]);
    return lines;
  }
  for (const pair of isIterable(given) ? given : Object.entries(given)) {
    if (!Array.isArray(pair) || pair.length !== 2) {
      throw new errors.InvalidArgumentError('headers must be in key-value pair format');
    }
    add(lines, String(pair[0]), pair[1]);
  }
  return lines;
}

function add(lines: string[], name: string, value: unknown): void {
  if (value === undefined) return;
  for (const each of Array.isArray(value) ? value : [value]) {
    if (typeof each === 'object' && each !== null) throw new errors.InvalidArgumentError(`invalid ${name} header`);
    lines.push(name, each === null ? '' : String(each));
  }
}

function isIterable(given: object): given is Iterable<unknown> {
  return Symbol.iterator in given && typeof given[Symbol.iterator] === 'function';
}

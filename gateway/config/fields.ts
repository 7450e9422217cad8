// The kinds of values that configuration is made of; the error text of each says what was expected.
import { z } from 'zod';
import { parseDuration, parsePercent, parseSize } from '../core/units.ts';

/** The message for a key or value that is known but has no effect in this version. */
export const NOT_YET = 'not supported yet';

/** What the reading of a text gives when it is known but not supported yet. */
export const LATER: unique symbol = Symbol(NOT_YET);

/** A key that is known and refused; it is left out of the JSON Schema, and of the suggestions. */
export const notYet = z.custom<undefined>(() => false, { error: NOT_YET, params: { at: 'key' } }).optional();

/** The context that a transform gets from zod. */
export type Checking = z.core.$RefinementCtx;

/** What a transform finds wrong; `path` goes on from the value that is transformed, `at: 'key'` means its key. */
export interface Refusal {
  /** Default: "not valid". */
  readonly wrong?: string;
  readonly expected?: string;
  readonly path?: (string | number)[];
  readonly at?: 'key' | 'value';
}

/** Reports a problem from within a transform. */
export function refuse(checking: Checking, { path = [], ...params }: Refusal): never {
  checking.addIssue({ code: 'custom', message: params.wrong ?? 'not valid', path, params });
  return z.NEVER;
}

/** A mapping with these keys and no others. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const keys = Object.keys(shape).filter((key) => shape[key] !== notYet);
  return z.strictObject(shape, { error: `a mapping with ${keys.join(', ')}` });
}

/** A list of at least `min` (0) items. */
export function list<Item extends z.ZodType>(item: Item, { of, min = 0 }: { of: string; min?: number }) {
  const error = min === 0 ? `a list of ${of}` : `a list of ${of}, not empty`;
  const items = z.array(item, { error });
  return min === 0 ? items : items.min(min, { error });
}

/** Text that `parse` understands; undefined from it refuses the text, LATER refuses it as not supported yet. */
export function text<Value>(expected: string, parse: (written: string) => Value | undefined | typeof LATER) {
  return z.string({ error: expected }).transform((written, checking) => {
    const value = parse(written);
    if (value === undefined) return refuse(checking, { expected });
    return value === LATER ? refuse(checking, { wrong: NOT_YET }) : value;
  });
}

/** Text that matches a pattern as a whole. */
export function pattern(expected: string, matching: RegExp) {
  return text(expected, (written) => (matching.test(written) ? written : undefined));
}

/** The path of a file or folder. */
export function filePath(expected: string) {
  return text(expected, (written) => (written === '' || written.includes('\0') ? undefined : written));
}

/** A secret that is sent in a header field; empty = none. */
export const secret = pattern('visible ASCII characters without spaces', /^[\x21-\x7e]*$/);

/** One of `values`; those of `later` are known but not supported yet. */
export function choice<const Value extends string>(values: readonly Value[], later: readonly string[] = []) {
  const isLater = (input: unknown): boolean => typeof input === 'string' && later.includes(input);
  return z.enum(values, { error: ({ input }) => (isLater(input) ? NOT_YET : oneOf(values)) });
}

/** Writes alternatives: `a, b or c`. */
function oneOf(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}

/** true or false. */
export const flag = z.boolean({ error: 'true or false' });

/** A whole number within limits, inclusive. */
export function whole({ min, max, of = 'a whole number' }: { min: number; max: number; of?: string }) {
  const error = `${of} from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A number within limits, inclusive, or, with `off`, the word "off". */
export function decimal({ min, max, off = false }: { min: number; max: number; off?: boolean }) {
  const error = `a number from ${min} to ${max}${off ? ', or off' : ''}`;
  const number = z.number({ error }).min(min, { error }).max(max, { error });
  return z.union(off ? [number, z.literal('off')] : [number], { error });
}

/** The number of a share like 20%; with `off` the word "off" is read as Infinity. */
export function percent({ off = false }: { off?: boolean } = {}) {
  return quantity({ min: '0%', max: '100%', off, parse: parsePercent, like: 'a share like 20%' });
}

/** Limits of a quantity, inclusive, as an operator writes them; with `off` the word "off" is read as Infinity. */
interface Range {
  readonly min?: string;
  readonly max?: string;
  readonly off?: boolean;
}

/** Milliseconds of a duration; at least 1ms, at most 576h (a longer one does not fit a timer). */
export function duration({ min = '1ms', max = '576h', off = false }: Range = {}) {
  return quantity({ min, max, off, parse: parseDuration, like: 'a duration like 5s or 250ms' });
}

/** Bytes of a size; 0B to 1024GiB. */
export function size({ min = '0B', max = '1024GiB', off = false }: Range = {}) {
  return quantity({ min, max, off, parse: parseSize, like: 'a size like 64KiB or 10MiB' });
}

interface Quantity extends Required<Range> {
  readonly like: string;
  readonly parse: (written: string) => number | undefined;
}

function quantity({ min, max, off, like, parse }: Quantity) {
  const expected = off ? `${like}, or off` : like;
  const [least = 0, most = 0] = [parse(min), parse(max)];
  return z.string({ error: expected }).transform((written, checking) => {
    if (off && written === 'off') return Number.POSITIVE_INFINITY;
    const value = parse(written);
    if (value === undefined || Number.isNaN(value)) return refuse(checking, { expected });
    if (value >= least && value <= most) return value;
    return refuse(checking, { wrong: 'out of range', expected: `${min} to ${max}` });
  });
}

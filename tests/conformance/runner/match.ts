import type { Json } from '@holdpoint/contract';
import { type Matcher, toRegExp } from './matcher.ts';

/** A missing value: no such key, no such file. */
export const missing = Symbol('missing');

/** The result of an operation with a thrown error. */
export class Thrown {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export type Found = Json | typeof missing | Thrown;

export interface Mismatch {
  expected: string;
  got: string;
}

export interface MatchOptions {
  /** Objects in `equals` may have further keys. */
  extraKeys?: boolean;
}

/** Why a value does not match; undefined for a match. */
export function mismatch(
  found: Found,
  matcher: Matcher,
  { extraKeys = false }: MatchOptions = {},
): Mismatch | undefined {
  for (const check of checks) {
    const expected = check(found, matcher, (a, b) => isEqual(a, b, extraKeys));
    if (expected !== undefined) return { expected, got: show(found) };
  }
  return undefined;
}

type Equal = (value: unknown, wanted: unknown) => boolean;
/** Returns the expectation when the value differs. */
type Check = (found: Found, matcher: Matcher, equal: Equal) => string | undefined;

const checks: readonly Check[] = [
  (found, { throws }) => (throws === undefined || found instanceof Thrown ? undefined : 'an error that is thrown'),
  (found, { absent }) => (absent === undefined || found === missing ? undefined : 'nothing there'),
  (found, matcher, equal) =>
    !('absent_or' in matcher) || found === missing || equal(found, matcher.absent_or)
      ? undefined
      : `nothing there, or ${show(matcher.absent_or)}`,
  (found, matcher, equal) =>
    !('equals' in matcher) || matcher.set_by !== undefined || equal(found, matcher.equals)
      ? undefined
      : show(matcher.equals),
  (found, { regex }) =>
    regex === undefined || (typeof found === 'string' && toRegExp(regex).test(found)) ? undefined : `/${regex}/`,
  (found, { contains }) =>
    contains === undefined || (typeof found === 'string' && contains.every((text) => found.includes(text)))
      ? undefined
      : `a text with ${show(contains)}`,
  (found, { gte }) =>
    gte === undefined || (typeof found === 'number' && found >= gte) ? undefined : `at least ${gte}`,
  (found, { lte }) => (lte === undefined || (typeof found === 'number' && found <= lte) ? undefined : `at most ${lte}`),
  (found, { length }) => (length === undefined || lengthOf(found) === length ? undefined : `a length of ${length}`),
  (found, { min_length }) =>
    min_length === undefined || (lengthOf(found) ?? -1) >= min_length
      ? undefined
      : `a length of at least ${min_length}`,
  (found, { set_equals }, equal) =>
    set_equals === undefined || isSameSet(found, set_equals, equal) ? undefined : `in any order ${show(set_equals)}`,
  (found, { superset_of }, equal) =>
    superset_of === undefined || (Array.isArray(found) && isSubset(superset_of, found, equal))
      ? undefined
      : `all of ${show(superset_of)}`,
  (found, { superset_names }, equal) =>
    superset_names === undefined || isSubset(superset_names, valuesOf(found, 'name') ?? [], equal)
      ? undefined
      : `objects with all of the names ${show(superset_names)}`,
  (found, { set_by, equals }, equal) =>
    set_by === undefined || isSetBy(found, { key: set_by, wanted: equals as Record<string, Json>[] }, equal)
      ? undefined
      : `by ${set_by} ${show(equals)}`,
  (found, { names, key }, equal) =>
    names === undefined || isSameSet(valuesOf(found, key ?? ''), names, equal)
      ? undefined
      : `objects with the ${key} ${show(names)}`,
  (found, { keys }) =>
    keys === undefined || (isObject(found) && keys.every((key) => Object.hasOwn(found, key)))
      ? undefined
      : `an object with ${show(keys)}`,
];

/** `{"$any": true}` in `wanted` is any value. */
function isEqual(value: unknown, wanted: unknown, extraKeys: boolean): boolean {
  if (value === missing || value instanceof Thrown) return false;
  if (isObject(wanted)) {
    if (Object.keys(wanted).length === 1 && wanted.$any === true) return true;
    if (!isObject(value)) return false;
    const keys = Object.keys(wanted);
    if (!extraKeys && Object.keys(value).length !== keys.length) return false;
    return keys.every((key) => Object.hasOwn(value, key) && isEqual(value[key], wanted[key], extraKeys));
  }
  if (Array.isArray(wanted)) {
    if (!Array.isArray(value) || value.length !== wanted.length) return false;
    return wanted.every((one, index) => isEqual(value[index], one, extraKeys));
  }
  return value === wanted;
}

/** Whether each wanted value has a partner of its own among the values. */
function isSubset(wanted: readonly unknown[], values: readonly unknown[], equal: Equal): boolean {
  const rest = [...values];
  return wanted.every((one) => {
    const index = rest.findIndex((value) => equal(value, one));
    if (index >= 0) rest.splice(index, 1);
    return index >= 0;
  });
}

const isSameSet = (found: unknown, wanted: readonly unknown[], equal: Equal): boolean =>
  Array.isArray(found) && found.length === wanted.length && isSubset(wanted, found, equal);

function isSetBy(
  found: unknown,
  { key, wanted }: { key: string; wanted: readonly Record<string, Json>[] },
  equal: Equal,
): boolean {
  if (!Array.isArray(found) || found.length !== wanted.length) return false;
  return wanted.every((one) => {
    const same = found.filter((value) => isObject(value) && Object.hasOwn(value, key) && equal(value[key], one[key]));
    return (
      same.length === 1 &&
      Object.keys(one).every((name) => Object.hasOwn(same[0], name) && equal(same[0][name], one[name]))
    );
  });
}

/** The values of a key of each object; undefined for any value but a list of objects with the key. */
function valuesOf(found: unknown, key: string): unknown[] | undefined {
  if (!Array.isArray(found)) return undefined;
  const all = found.every((one) => isObject(one) && Object.hasOwn(one, key));
  return all ? found.map((one) => one[key]) : undefined;
}

/** Characters of a text, not UTF-16 units. */
const lengthOf = (found: Found): number | undefined =>
  typeof found === 'string' ? [...found].length : Array.isArray(found) ? found.length : undefined;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Thrown);

/** On a single line; long text is cut. */
export function show(value: unknown): string {
  if (value === missing) return 'nothing';
  if (value instanceof Thrown) return `thrown: ${value.message}`;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
}

const longest = 300;

import type { Json } from '@holdpoint/contract';

/** Copies a toolset's return value as JSON. @throws TypeError for any value but JSON */
export function asJson(value: unknown): Json {
  if (value instanceof Promise) throw new TypeError('expected a JSON value and got a promise');
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`expected a JSON value and got ${typeof value}`);
  return JSON.parse(text);
}

import type { Json } from '@holdpoint/contract';

/** What a toolset returned, as a JSON value of its own. @throws TypeError when it is none */
export function asJson(value: unknown): Json {
  if (value instanceof Promise) throw new TypeError('expected a JSON value and got a promise');
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`expected a JSON value and got ${typeof value}`);
  return JSON.parse(text);
}

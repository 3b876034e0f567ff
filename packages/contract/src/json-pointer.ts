import type { Json } from './tool.ts';

/** The value at a JSON pointer (RFC 6901), or undefined when there is none. Own properties only. */
export function resolvePointer(value: Json, pointer: string): Json | undefined {
  if (pointer === '') return value;
  if (!pointer.startsWith('/')) return undefined;
  let at: Json | undefined = value;
  for (const key of fromPointer(pointer)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, Json>)[key];
  }
  return at;
}

/** A path of keys as a JSON pointer. */
export const toPointer = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The keys of a JSON pointer. */
export const fromPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

import type { Json } from '@holdpoint/contract';
import { type Found, isObject, missing, Thrown } from './match.ts';

/** A value with its pointer. */
export interface Located {
  pointer: string;
  found: Found;
}

/** The values behind a JSON pointer. A segment `*` is every value; where there is none, the value is missing. */
export function locate(value: Found, pointer: string): Located[] {
  const segments = pointer.split('/').slice(1);
  let reached: Located[] = [{ pointer: '', found: value }];
  for (const segment of segments) reached = reached.flatMap((one) => step(one, segment));
  return reached;
}

function step({ pointer, found }: Located, segment: string): Located[] {
  if (segment !== '*') return [{ pointer: `${pointer}/${segment}`, found: child(found, unescaped(segment)) }];
  const keys = Array.isArray(found) || isObject(found) ? Object.keys(found) : [];
  if (keys.length === 0) return [{ pointer: `${pointer}/*`, found: missing }];
  return keys.map((key) => ({ pointer: `${pointer}/${escaped(key)}`, found: child(found, key) }));
}

function child(found: Found, key: string): Found {
  if (found === missing || found instanceof Thrown) return missing;
  if (Array.isArray(found))
    return /^(0|[1-9]\d*)$/.test(key) && Number(key) < found.length ? (found[Number(key)] as Found) : missing;
  return isObject(found) && Object.hasOwn(found, key) ? (found[key] as Json) : missing;
}

const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

import { isAbsolute, normalize } from 'node:path';
import type { Roots } from './bounds.ts';

/** Reads HOLDPOINT_SOURCE_ROOTS and HOLDPOINT_PUBLISH_ROOTS: absolute paths, separated by colons. Empty counts as not set. */
export function rootsFrom(env: Readonly<Record<string, string | undefined>>): Roots {
  return {
    sourceRoots: read(env, 'HOLDPOINT_SOURCE_ROOTS'),
    publishRoots: read(env, 'HOLDPOINT_PUBLISH_ROOTS'),
  };
}

function read(env: Readonly<Record<string, string | undefined>>, name: string): string[] | undefined {
  const paths = (env[name] ?? '').split(':').filter((path) => path !== '');
  const wrong = paths.find((path) => !isAbsolute(path));
  if (wrong !== undefined) throw new Error(`${name}: ${wrong} is not an absolute path`);
  return paths.length === 0 ? undefined : paths.map((path) => normalize(path).replace(/(?<=.)\/$/, ''));
}

import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The entry at each path below a directory: type, mode and content. */
export async function digestTree(directory: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const path of await readdir(directory, { recursive: true }))
    found.set(path, await digest(join(directory, path)));
  return found;
}

export function changedPaths(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

async function digest(path: string): Promise<string> {
  const stat = await lstat(path);
  if (stat.isSymbolicLink()) return `link ${await readlink(path)}`;
  if (stat.isDirectory()) return `directory ${stat.mode}`;
  if (!stat.isFile()) return `other ${stat.mode}`;
  return `file ${stat.mode} ${createHash('sha256')
    .update(await readFile(path))
    .digest('hex')}`;
}

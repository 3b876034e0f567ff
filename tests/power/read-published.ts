import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { git } from '../harness/repositories.ts';
import type { ExpectedRun, Files } from './cut.ts';

/** The published files at the source. For a repository, the run's branch, after `git fsck`. */
export async function readPublished(
  runId: string,
  { type, path }: NonNullable<ExpectedRun['published']>,
): Promise<Files> {
  if (type === 'directory') return readDirectory(path);
  await git(path, 'fsck', '--strict');
  const branch = `holdpoint/${runId}`;
  const names = await git(path, 'ls-tree', '-r', '--name-only', branch);
  const files = new Map<string, string>();
  // `git` trims its output; every file here ends with a single line break.
  for (const name of names.split('\n')) files.set(name, `${await git(path, 'show', `${branch}:${name}`)}\n`);
  return files;
}

async function readDirectory(path: string): Promise<Files> {
  const files = new Map<string, string>();
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(relative(path, file), await readFile(file, 'utf8'));
  }
  return files;
}

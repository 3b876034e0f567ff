import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { git } from '../harness/repositories.ts';
import type { NamedTask } from './all.ts';
import type { Replacement } from './task.ts';

/** Makes the repository that the agent gets: the files of `repo/` in one commit. */
export async function makeRepository({ folder }: NamedTask, into: string): Promise<string> {
  await cp(join(folder, 'repo'), into, { recursive: true });
  await git(into, 'init', '-q', '-b', 'main');
  await git(into, 'add', '-A');
  await git(into, 'commit', '-q', '-m', 'initial');
  return into;
}

/** Writes the files of a branch, with the hidden files over them, for the validator. */
export async function treeOfBranch(task: NamedTask, repository: string, branch: string, into: string): Promise<void> {
  await mkdir(into, { recursive: true });
  const archive = `${into}.tar`;
  await git(repository, 'archive', '-o', archive, branch);
  await promisify(execFile)('tar', ['xf', archive, '-C', into]);
  await hide(task, into);
}

/** Writes the files of `repo/` with these changes, and the hidden files over them, for the validator. */
export async function treeWith(task: NamedTask, changes: readonly Replacement[], into: string): Promise<void> {
  await cp(join(task.folder, 'repo'), into, { recursive: true });
  for (const change of changes) await replace(into, change);
  await hide(task, into);
}

const hide = ({ folder }: NamedTask, into: string) => cp(join(folder, 'hidden'), into, { recursive: true });

async function replace(into: string, { file, from, to }: Replacement): Promise<void> {
  const path = join(into, file);
  const text = await readFile(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
  await writeFile(
    path,
    text.replace(from, () => to),
  );
}

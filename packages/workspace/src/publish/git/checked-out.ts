import { constants, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, errnoOf } from '../../deps.ts';
import { plainBoolean, readPlainConfig } from '../../source/git/plain-config.ts';
import { asOwner, type Repository } from '../../source/git/repository.ts';
import { type SourceBranch, symbolicRef } from './source-branch.ts';

/** Whether a work tree has the branch checked out. If the branch moved, its index would look like a revert. */
export async function isCheckedOut(deps: Deps, { source, written }: SourceBranch): Promise<boolean> {
  if (source.remote !== undefined) return false;
  // Not by `worktree list`: the command opens every work tree by absolute path, and the owner may not be allowed to enter the folders
  // above.
  for (const name of workTrees(source.common))
    if ((await headOf(deps, source, `worktrees/${name}/HEAD`)) === written) return true;
  return (await headOf(deps, source, 'HEAD')) === written && !(await isBare(deps, source));
}

async function isBare(deps: Deps, source: Repository): Promise<boolean> {
  const plain = plainBoolean(readPlainConfig(source), 'core.bare');
  if (plain !== undefined) return plain;
  const { at, options } = asOwner(source);
  const args = [...at, 'config', '--type=bool', '--get', 'core.bare'];
  const { stdout } = await deps.git.run(args, { ...options, accept: [0, 1] });
  return stdout.toString('latin1').trim() === 'true';
}

function workTrees(gitDir: string): string[] {
  try {
    return readdirSync(join(gitDir, 'worktrees'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The ref named by a HEAD, from its file: a program for each work tree takes longer. git reads every other form. */
async function headOf(deps: Deps, source: Repository, name: string): Promise<string | undefined> {
  const text = await readSmall(join(source.common, name));
  const target = /^ref: (refs\/\S+)\n$/.exec(text ?? '')?.[1];
  if (target !== undefined && target !== 'refs/heads/.invalid') return target;
  if (/^[0-9a-f]{40}\n$/.test(text ?? '')) return undefined;
  return symbolicRef(deps, source, name);
}

/** undefined for anything but a small plain file. */
export async function readSmall(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = await file.stat();
    return status.isFile() && status.size < 4096 ? await file.readFile('utf8') : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

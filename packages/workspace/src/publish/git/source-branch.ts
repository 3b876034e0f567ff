import { constants, existsSync, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isRemote, placeOf } from '@holdpoint/contract';
import { type Deps, errnoOf, WorkspaceError, type WorkspaceRecord } from '../../deps.ts';
import { readRows } from '../../host-git/stream-blobs.ts';
import { openRemoteTarget } from '../../remote/remote-target.ts';
import { plainBoolean, readPlainConfig } from '../../source/git/plain-config.ts';
import { holdsCommit } from '../../source/git/plain-object.ts';
import { asOwner, openWatched, type Repository } from '../../source/git/repository.ts';
import { type FoundRef, readPlainRefs } from './plain-refs.ts';

/** A branch of the source, and the refs around its name. */
export interface SourceBranch {
  source: Repository;
  name: string;
  /** null: the branch does not exist. */
  tip: string | null;
  /** The ref reached by a write: a branch can be a symbolic ref. */
  written: string;
  /** A blocking ref: refs are files and folders, so `a` blocks `a/b` and `a/b` blocks `a`. */
  inTheWay: string | undefined;
}

/**
 * Opens the user's repository, or asks a remote repository, and reads the branch with a single program at most. undefined when the repository is
 * gone or unreadable. Throws when any part of the repository is out of bounds. The caller ends the watch of the repository.
 */
export async function openBranch(
  deps: Deps,
  { record, branch, runId }: { record: WorkspaceRecord; branch: string; runId: string },
): Promise<SourceBranch | undefined> {
  const { origin, source } = record;
  if (isRemote(source)) return remoteBranch(await openRemoteTarget(deps, { branch, runId, source, record }), branch);
  const path = source.type === 'git' ? placeOf(source) : '';
  const repository = await openWatched(deps, { path, gitDir: origin ?? '', use: 'publish' });
  if (repository === undefined) return undefined;
  try {
    const found = await readBranchOf(deps, repository, branch);
    if (found === undefined) endWatch(repository);
    return found;
  } catch (error) {
    endWatch(repository);
    throw error;
  }
}

export const endWatch = (repository: Repository | undefined): void => repository?.watch?.[Symbol.dispose]();

async function readBranchOf(deps: Deps, repository: Repository, branch: string): Promise<SourceBranch | undefined> {
  const refs = await readAround(deps, repository, branch);
  if (refs === undefined) return undefined;
  const own = refs.get(branch);
  const written =
    own?.symref || (own === undefined ? await danglingTarget(deps, repository, branch) : undefined) || branch;
  const inTheWay = [...refs.keys()].find((name) => branch.startsWith(`${name}/`) || name.startsWith(`${branch}/`));
  return { source: repository, name: branch, tip: own?.oid ?? null, written, inTheWay };
}

function remoteBranch(source: Repository, name: string): SourceBranch {
  const { branches } = source.remote ?? { branches: new Map<string, string>() };
  const inTheWay = [...branches.keys()].find((other) => name.startsWith(`${other}/`) || other.startsWith(`${name}/`));
  return { source, name, tip: branches.get(name) ?? null, written: name, inTheWay };
}

/**
 * The refs from the first part of a branch's name on, in order, up to the first ref below the branch; undefined when git cannot read them.
 */
async function readAround(
  deps: Deps,
  source: Repository,
  branch: string,
): Promise<ReadonlyMap<string, FoundRef> | undefined> {
  return readPlainRefs(source, branch) ?? (await askAround(deps, source, branch));
}

async function askAround(
  deps: Deps,
  source: Repository,
  branch: string,
): Promise<ReadonlyMap<string, FoundRef> | undefined> {
  const { at, options } = asOwner(source);
  const top = branch.split('/').slice(0, 3).join('/');
  const format = '--format=%(objectname)%00%(symref)%00%(refname)';
  const rows = readRows(deps.git, [...at, 'for-each-ref', format, top], { ...options, end: newline, most: mostRefs });
  const refs = new Map<string, FoundRef>();
  try {
    for await (const some of rows) {
      for (const row of some) {
        const [oid = '', symref = '', bytes = ''] = row.split('\0');
        const name = Buffer.from(bytes, 'latin1').toString('utf8');
        if (name === branch || branch.startsWith(`${name}/`) || name.startsWith(`${branch}/`)) {
          refs.set(name, { oid, symref: Buffer.from(symref, 'latin1').toString('utf8') });
        }
        // git sorts by bytes, so no relevant ref follows.
        if (bytes > `${toBytes(branch)}0`) return refs;
      }
    }
    return refs;
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === 'EGITFAILED') return undefined;
    throw error;
  }
}

const newline = 0x0a;
const mostRefs = 5_000_000;
const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** for-each-ref lists no symbolic ref to a missing ref. Only a file of its own can be such a ref, unless the refs are in tables. */
async function danglingTarget(deps: Deps, source: Repository, branch: string): Promise<string | undefined> {
  if (!existsSync(join(source.common, branch)) && !existsSync(join(source.common, 'reftable'))) return undefined;
  return symbolicRef(deps, source, branch);
}

/** The commit of a ref. Not by `rev-parse`: for a missing `refs/heads/x` the command finds `refs/heads/refs/heads/x`. */
export async function readBranch(deps: Deps, source: Repository, ref: string): Promise<string | undefined> {
  if (source.remote !== undefined) return source.remote.branches.get(ref);
  const plain = readPlainRefs(source, ref);
  if (plain !== undefined) return plain.get(ref)?.oid;
  const { at, options } = asOwner(source);
  // A pattern also matches the refs below. git sorts them behind the ref.
  const { stdout } = await deps.git.run(
    [...at, 'for-each-ref', '--count=1', '--format=%(objectname) %(refname)', ref],
    options,
  );
  const rows = stdout.toString('utf8').split('\n');
  return rows.find((row) => row.slice(41) === ref)?.slice(0, 40);
}

export async function hasCommit(deps: Deps, source: Repository, commit: string): Promise<boolean> {
  // The host reports an unusable branch at the push.
  if (source.remote !== undefined || holdsCommit(source, commit)) return true;
  const { at, options } = asOwner(source);
  const args = [...at, 'cat-file', '-e', `${commit}^{commit}`];
  return (await deps.git.run(args, { ...options, accept: [0, 1, 128] })).code === 0;
}

/** Whether a branch contains a commit. */
export async function isMerged(deps: Deps, source: Repository, commit: string, tip: string): Promise<boolean> {
  if (commit === tip) return true;
  const { at, options } = asOwner(source.remote?.tip ?? source);
  const args = [...at, 'merge-base', '--is-ancestor', commit, tip];
  return (await deps.git.run(args, { ...options, accept: [0, 1, 128] })).code === 0;
}

/** The target of a symbolic ref. */
async function symbolicRef(deps: Deps, source: Repository, name: string): Promise<string | undefined> {
  const { at, options } = asOwner(source);
  const found = await deps.git.run([...at, 'symbolic-ref', '--quiet', name], { ...options, accept: [0, 1, 128] });
  return found.code === 0 ? found.stdout.toString('utf8').trim() : undefined;
}

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

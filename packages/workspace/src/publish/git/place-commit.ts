import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Deps, type RunFolder, WorkspaceError } from '../../deps.ts';
import { asOwner, type Repository } from '../../source/git/repository.ts';
import { pipePack } from '../../source/git/take-commit.ts';
import { readBranch, readSmall } from './source-branch.ts';

interface Sent {
  folder: RunFolder;
  source: Repository;
  commit: string;
  has: string;
}

/** Waits of 0.1 to 0.5 s, together 14 s: a busy machine spends seconds between two steps of git. */
const mostTries = 30;
/** A collection of the run's own objects replaces a pack within a moment. An object that is missing after it is lost. */
const mostReads = 3;
const retryMs = 100;
const longestWait = 5;

/**
 * Brings a commit into the repository, and keeps it there by a ref of the run. `git gc --prune=now` and `git prune` remove a pack that git
 * still writes, and a pack without a ref: then the commit is sent again.
 */
export async function placeCommit(deps: Deps, input: Sent): Promise<void> {
  for (let tries = 1; ; tries++) {
    let most = mostTries;
    const cannotRead = (error: unknown): never => {
      most = mostReads;
      throw error;
    };
    try {
      await sendObjects(deps, input, cannotRead);
      deps.onPoint('publish-git.objects');
      await updateRef(deps, input.source, [ownRef(input.folder.runId), input.commit]);
      return;
    } catch (error) {
      if (!isPruned(error) || tries >= most || !holdsPacks(input.source)) throw error;
      await delay(retryMs * Math.min(tries, longestWait));
    }
  }
}

const pruned =
  /no such file or directory|unable to (?:rename|open|read|find|create)|nonexistent object|not a valid object|bad object/i;

/** A repository without a folder of packs is broken: another try would fail in the same way. */
const holdsPacks = ({ common }: Repository): boolean =>
  statSync(join(common, 'objects/pack'), { throwIfNoEntry: false })?.isDirectory() === true;

const isGitFailure = (error: unknown): error is WorkspaceError =>
  error instanceof WorkspaceError && error.code === 'EGITFAILED';
const isPruned = (error: unknown): boolean => isGitFailure(error) && pruned.test(error.message);

/** Marks the pack of a run: a `git repack` that listed the refs before the run had its own deletes no pack with a mark. */
const keepNote = (runId: string): string => `holdpoint ${runId}`;

/** A fetch could also refuse the shallow shadow repository, or copy its shallowness. */
async function sendObjects(deps: Deps, input: Sent, cannotRead: (error: unknown) => never): Promise<void> {
  const { at, options } = asOwner(input.source);
  await pipePack(deps.git, {
    pack: {
      args: [`--git-dir=${input.folder.shadow}`, 'pack-objects', '--revs', '--stdout', '-q'],
      failed: cannotRead,
    },
    index: { args: [...at, 'index-pack', '--stdin', '--strict', `--keep=${keepNote(input.folder.runId)}`], options },
    revs: `${input.commit}\n^${input.has}\n`,
  }).catch(refused);
}

/** `index-pack --strict` refuses some content, for example a `.gitmodules` with commands inside. */
function refused(cause: unknown): never {
  if (cause instanceof WorkspaceError && /fsck error|in strict mode/i.test(cause.message)) {
    throw new WorkspaceError('EGITREFUSED', `The repository refuses the change: ${cause.message}`, { cause });
  }
  throw cause;
}

interface Move {
  runId: string;
  branch: string;
  /** null: the branch must not exist. */
  from: string | null;
  commit: string;
}

/**
 * Moves a branch by compare-and-set, and removes the ref of the run in the same transaction: git writes the branch first. A ref that someone
 * else removed or locks keeps no branch from moving.
 * @returns 'moved' when the branch was not at `from`
 */
export async function moveBranch(deps: Deps, source: Repository, input: Move): Promise<'moved' | undefined> {
  const { runId, branch, from, commit } = input;
  const move = `update ${branch}\0${commit}\0${from ?? '0'.repeat(40)}\0`;
  const drop = `option no-deref\0delete ${ownRef(runId)}\0${commit}\0`;
  let failure: unknown;
  for (const changes of [move + drop, move]) {
    try {
      await updateRef(deps, source, ['--create-reflog', '--stdin', '-z'], changes);
      return undefined;
    } catch (error) {
      if (!isGitFailure(error)) throw error;
      const now = await readBranch(deps, source, branch);
      if (now === commit) return undefined;
      if (now !== (from ?? undefined)) return 'moved';
      failure = error;
    }
  }
  throw failure;
}

/** A ref to keep the new objects of a run in the user's repository until the branch does. */
export const ownRef = (runId: string): string => `refs/holdpoint/${runId}/out`;

/**
 * Removes the ref, and then the mark of the pack: a repack from then on sees the branch. A leftover is harmless: the discard of the run tries
 * the removal again.
 */
export async function dropOwnRef(deps: Deps, source: Repository, runId: string): Promise<void> {
  const { at, options } = asOwner(source);
  const ref = ownRef(runId);
  try {
    if ((await readBranch(deps, source, ref)) !== undefined)
      await deps.git.run([...at, 'update-ref', '--no-deref', '-d', ref], options);
    await dropMark(source, runId);
  } catch (error) {
    deps.logger.warn({ run_id: runId, ref, err: error }, 'could not remove a ref in the source repository');
  }
}

async function dropMark(source: Repository, runId: string): Promise<void> {
  if (source.remote !== undefined) return;
  const folder = join(source.common, 'objects/pack');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.keep'))) {
    const path = join(folder, name);
    if ((await readSmall(path))?.trim() === keepNote(runId)) rmSync(path, { force: true });
  }
}

async function updateRef(deps: Deps, source: Repository, args: readonly string[], input = ''): Promise<void> {
  const { at, options } = asOwner(source);
  await deps.git.run([...at, 'update-ref', '-m', 'holdpoint: publish', ...args], { ...options, input });
}

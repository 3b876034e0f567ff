import { join } from 'node:path';
import type { Resolution, Source } from '@holdpoint/contract';
import { type FileTree, readTree, writeTree } from './file-tree.ts';
import { git, initRepository } from './real-git.ts';
import { runId, type Temporary } from './temporary-workspaces.ts';

type Edit = (folder: string) => void;

/** A run on a repository whose branch `main` moves after the run has started. No work tree has `main` checked out. */
export async function startOnMain(
  t: Temporary,
  at: { base: FileTree; run: Edit; theirs?: Edit; source?: Partial<Source> },
) {
  const repository = join(t.path, 'repository');
  writeTree(repository, at.base);
  initRepository(repository);
  git(repository, 'switch', '-q', '-c', 'elsewhere');
  const { base: made, path } = await t.begin({ type: 'git', path: repository, ref: 'main', ...at.source } as Source);
  at.run(path);
  const final = await t.snapshot(made.id);
  if (at.theirs !== undefined) commitOnMain(t, repository, at.theirs);
  const plan = (resolutions: Resolution[] = []) =>
    t.workspaces.planPublish({ runId, snapshot: final.id, resolutions, target: { branch: 'main', message: 'm' } });
  const publish = (resolutions: Resolution[] = []) => t.publish({ snapshot: final.id, resolutions, branch: 'main' });
  return { repository, path, final, plan, publish };
}

export function commitOnMain(t: Temporary, repository: string, change: Edit): string {
  const work = join(t.path, 'their-work-tree');
  git(repository, 'worktree', 'add', '-q', work, 'main');
  change(work);
  git(work, 'add', '-A');
  git(work, 'commit', '-q', '-m', 'theirs');
  git(repository, 'worktree', 'remove', '--force', work);
  return git(repository, 'rev-parse', 'main');
}

/** The files of a branch in a fresh work tree. */
export function checkedOut(t: Temporary, repository: string, branch = 'main'): Record<string, string> {
  const work = join(t.path, 'look');
  git(repository, 'worktree', 'add', '-q', '--detach', work, branch);
  try {
    return readTree(work, { ignore: ['.git'] });
  } finally {
    git(repository, 'worktree', 'remove', '--force', work);
  }
}

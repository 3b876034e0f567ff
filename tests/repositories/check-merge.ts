import type { Client } from '@holdpoint/client';
import { expect } from 'vitest';
import { nextApproval } from '../harness/runs.ts';
import { bytesOf, publishNow } from './drive-run.ts';
import { difference } from './files-on-disk.ts';
import { git, gitCode, treeEntries } from './real-git.ts';
import { cloneReference } from './reference-clone.ts';
import type { TestRepository } from './scenario.ts';

interface Input {
  client: Client;
  runId: string;
  made: TestRepository;
  folder: string;
  /** The commit published by the run to its own branch. */
  commit: string;
  /** The changes of another person, committed to another branch. */
  script: string;
  branch: string;
}

/** A publish to a moved branch gives the same tree as `git merge`, or conflicts at the same paths. */
export async function checkMerge({ client, runId, made, folder, commit, script, branch }: Input): Promise<void> {
  const clone = cloneReference(made, `${folder}-${branch}`);
  clone.edit(script);
  const tree = clone.addedTree();
  const tip = git(clone.folder, ['commit-tree', tree, '-p', clone.base, '-m', branch]).trim();
  git(clone.folder, ['push', '-q', 'origin', `${tip}:refs/heads/${branch}`]);

  git(clone.folder, ['checkout', '-q', '--force', '--detach', tip]);
  git(clone.folder, ['fetch', '-q', 'origin', commit]);
  // Before git 2.50 only this strategy can ignore renames.
  const code = gitCode(clone.folder, ['merge', '-q', '-s', 'recursive', '-X', 'no-renames', '-m', 'merged', commit]);
  if (code === 0) {
    const { published } = await publishNow(client, runId, { branch });
    if (published?.type !== 'git') throw new Error('the publish has no commit');
    expect(git(made.path, ['rev-parse', branch, `${branch}^@`]).split('\n')).toEqual([published.commit, tip, '']);
    const [found, expected] = [treeEntries(made.path, branch), treeEntries(clone.folder, 'HEAD')];
    expect(difference(found, expected), 'the published tree against git merge').toEqual([]);
    return;
  }
  const unmerged = git(clone.folder, ['diff', '-z', '--name-only', '--diff-filter=U']).split('\0').filter(Boolean);
  expect(unmerged).not.toEqual([]);
  const { status, conflicts } = await publishNow(client, runId, { branch });
  expect(status).toBe('parked');
  expect(conflicts.map(({ path }) => bytesOf(path)).sort()).toEqual(unmerged.sort());
  const { id, action_digest } = await nextApproval(client, runId);
  await client.decideApproval(id, { decision: 'reject', action_digest });
  await client.waitForRun(runId, { until: ({ publication }) => publication.status !== 'parked' });
  expect(git(made.path, ['rev-parse', branch]).trim()).toBe(tip);
}

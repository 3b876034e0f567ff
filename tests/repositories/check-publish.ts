import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@holdpoint/client/client';
import { expect } from 'vitest';
import { difference } from './difference.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { cloneOrdinarily, type OrdinaryClone } from './ordinary-clone.ts';
import { changedPaths, fsck, git, treeEntries } from './real-git.ts';
import type { Made } from './scenario.ts';
import { bytesOf, publishNow } from './try-run.ts';

interface Input {
  client: Client;
  runId: string;
  made: Made;
  /** All that was made for the repository lies here. */
  folder: string;
  clone: OrdinaryClone;
}

/** What a publish may add to a repository: objects, the branch, and its reflog. */
const isAdded = (path: string): boolean =>
  /(^|\/)(\.git|[^/]*\.git)\/(objects|lfs)(\/|$)/.test(path) || /(^|\/)refs\/heads\/holdpoint(\/|$)/.test(path);

/** Everything of the user's that a publish must leave alone, with its times and permissions. */
export const untouched = (folder: string): Map<string, string> =>
  filesOnDisk(folder, { without: isAdded, exactly: true });

/** The patch that a review shows gives the same tree where git applies it. */
export async function checkPatch({ client, runId, made, folder, clone }: Input): Promise<void> {
  const diff = await client.diff(runId);
  const tree = clone.reviewedTree();
  expect(diff.files.map(({ path }) => bytesOf(path)).sort(), 'paths of the diff').toEqual(
    changedPaths(clone.folder, clone.base, tree),
  );
  const fresh = cloneOrdinarily(made, `${folder}-patched`);
  const patch = join(fresh.folder, '.git/run.patch');
  writeFileSync(patch, await client.patch(runId));
  git(fresh.folder, ['apply', '--index', '--whitespace=nowarn', patch]);
  const applied = git(fresh.folder, ['write-tree']).trim();
  expect(
    difference(treeEntries(fresh.folder, applied), treeEntries(clone.folder, tree)),
    'what the patch gives',
  ).toEqual([]);
}

/** The published commit has the tree of `git add -A`, was what the dry run said, and is all that the source got. */
export async function checkPublish({ client, runId, made, folder, clone }: Input): Promise<string> {
  const tree = clone.addedTree();
  const complaints = fsck(made.path);
  const before = untouched(folder);
  const preview = await client.previewPublish(runId);
  expect(preview.conflicts).toEqual([]);
  expect(difference(untouched(folder), before), 'the source after a dry run').toEqual([]);
  const { status, published } = await publishNow(client, runId);
  expect(status).toBe('published');
  expect(difference(untouched(folder), before), 'the source after the publish').toEqual([]);
  if (published?.type !== 'git') throw new Error('the publish has no commit');

  expect(published.commit).toBe(preview.target.type === 'git' ? preview.target.commit : '');
  expect(git(made.path, ['rev-parse', `holdpoint/${runId}`]).trim()).toBe(published.commit);
  expect(git(made.path, ['rev-parse', `${published.commit}^@`]).trim()).toBe(clone.base);
  expect(
    difference(treeEntries(made.path, published.commit), treeEntries(clone.folder, tree)),
    'the published tree beside that of git add',
  ).toEqual([]);
  expect(preview.files.map(({ path }) => bytesOf(path)).sort(), 'paths of the dry run').toEqual(
    changedPaths(made.path, clone.base, published.commit),
  );
  expect(fsck(made.path)).toBe(complaints);
  expect(git(made.path, ['for-each-ref', 'refs/holdpoint'])).toBe('');
  await checkLfs(made, clone, preview.converted ?? []);
  return published.commit;
}

/** Each file that became a pointer has its content where git-lfs looks for it. */
async function checkLfs(
  made: Made,
  clone: OrdinaryClone,
  converted: readonly { path: string; how: string }[],
): Promise<void> {
  const [common = ''] = git(made.path, ['rev-parse', '--path-format=absolute', '--git-common-dir']).split('\n');
  for (const { path, how } of converted) {
    if (how !== 'lfs') continue;
    const content = readFileSync(Buffer.from(`${clone.folder}/${bytesOf(path)}`, 'latin1'));
    const sha256 = createHash('sha256').update(content).digest('hex');
    const object = join(common, 'lfs/objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
    expect(await digestOf(object), path).toBe(sha256);
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest('hex');
}

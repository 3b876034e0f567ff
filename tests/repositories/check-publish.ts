import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@holdpoint/client';
import { expect } from 'vitest';
import { bytesOf, publishNow } from './drive-run.ts';
import { difference, filesOnDisk } from './files-on-disk.ts';
import { changedPaths, fsck, git, treeEntries } from './real-git.ts';
import { cloneReference, type ReferenceClone } from './reference-clone.ts';
import type { TestRepository } from './scenario.ts';

interface Input {
  client: Client;
  runId: string;
  made: TestRepository;
  /** Contains everything made for the repository. */
  folder: string;
  clone: ReferenceClone;
  /** A changed file above the limit of a patch. */
  aboveThePatch?: string | undefined;
}

/** Paths a publish may add to a repository: objects, the branch, and its reflog. */
const isAdded = (path: string): boolean =>
  /(^|\/)(\.git|[^/]*\.git)\/(objects|lfs)(\/|$)/.test(path) || /(^|\/)refs\/heads\/holdpoint(\/|$)/.test(path);

/** All files of the user protected from a publish, with times and permissions. */
export const userFiles = (folder: string): Map<string, string> =>
  filesOnDisk(folder, { without: isAdded, exactly: true });

/** `git apply` of the run's patch gives the reviewed tree. An overlarge patch is refused, but the patches of the other paths are not. */
export async function checkPatch({ client, runId, made, folder, clone, aboveThePatch }: Input): Promise<void> {
  const diff = await client.diff(runId);
  const tree = clone.reviewedTree();
  // A moved file is a single entry with both of its paths.
  const shown = diff.files.flatMap(({ path, moved_from }) => [path, ...(moved_from === undefined ? [] : [moved_from])]);
  expect(shown.map(bytesOf).sort(), 'paths of the diff').toEqual(changedPaths(clone.folder, clone.base, tree));
  const fresh = cloneReference(made, `${folder}-patched`);
  const apply = (text: string): void => {
    const patch = join(fresh.folder, '.git/run.patch');
    writeFileSync(patch, text);
    git(fresh.folder, ['apply', '--index', '--whitespace=nowarn', patch]);
  };
  const patched = () => treeEntries(fresh.folder, git(fresh.folder, ['write-tree']).trim());
  if (aboveThePatch === undefined) {
    apply(await client.patch(runId));
    expect(difference(patched(), treeEntries(clone.folder, tree)), 'the patched tree').toEqual([]);
    return;
  }
  await expect(client.patch(runId)).rejects.toMatchObject({
    code: 'diff_too_large',
    detail: expect.stringContaining(aboveThePatch),
  });
  const refused: string[] = [];
  for (const { path } of diff.files) {
    const text = await client.patch(runId, { path }).catch(({ code }: { code: string }) => {
      expect(code).toBe('diff_too_large');
      refused.push(path);
    });
    if (text !== undefined) apply(text);
  }
  expect(refused).toContain(aboveThePatch);
  const others = difference(patched(), treeEntries(clone.folder, tree)).filter(
    (line) => !refused.some((path) => line.includes(path)),
  );
  expect(others, 'the tree of the other paths').toEqual([]);
}

/** The published commit has the tree of `git add -A`, equals the dry run, and is the only change of the source. */
export async function checkPublish({ client, runId, made, folder, clone }: Input): Promise<string> {
  const tree = clone.addedTree();
  const complaints = fsck(made.path);
  const before = userFiles(folder);
  const preview = await client.previewPublish(runId);
  expect(preview.conflicts).toEqual([]);
  expect(difference(userFiles(folder), before), 'the source after a dry run').toEqual([]);
  const { status, published } = await publishNow(client, runId);
  expect(status).toBe('published');
  expect(difference(userFiles(folder), before), 'the source after the publish').toEqual([]);
  if (published?.type !== 'git') throw new Error('the publish has no commit');

  expect(published.commit).toBe(preview.target.type === 'git' ? preview.target.commit : '');
  expect(git(made.path, ['rev-parse', `holdpoint/${runId}`]).trim()).toBe(published.commit);
  expect(git(made.path, ['rev-parse', `${published.commit}^@`]).trim()).toBe(clone.base);
  expect(
    difference(treeEntries(made.path, published.commit), treeEntries(clone.folder, tree)),
    'the published tree against git add',
  ).toEqual([]);
  expect(preview.files.map(({ path }) => bytesOf(path)).sort(), 'paths of the dry run').toEqual(
    changedPaths(made.path, clone.base, published.commit),
  );
  expect(fsck(made.path)).toBe(complaints);
  expect(git(made.path, ['for-each-ref', 'refs/holdpoint'])).toBe('');
  await checkLfs(made, clone, preview.converted ?? []);
  return published.commit;
}

/** Each file turned into a pointer has its content in git-lfs's place. */
async function checkLfs(
  made: TestRepository,
  clone: ReferenceClone,
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

import { statSync } from 'node:fs';
import type { Deps } from '../deps.ts';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { createObjectWriter } from '../git-objects/object-writer.ts';
import { writeRef } from '../git-objects/ref-file.ts';
import type { GitOptions } from '../host-git/git.ts';
import type { Conflict, PublishResult, SnapshotId } from '../port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { WorkspaceRecord } from '../run/workspace-record.ts';
import { loadSnapshot, loadTree } from '../tree/load-snapshot.ts';
import type { Folder } from '../tree/tree.ts';
import { find, isFolder, modes, withEntry } from '../tree/tree.ts';

interface Input {
  folder: RunFolder;
  record: WorkspaceRecord;
  snapshot: SnapshotId;
  message: string;
}

/**
 * Publishes to a new branch `holdpoint/<run>` of the source repository: objects, a ref of our own, then the branch by
 * compare-and-set from nothing. The commit is a function of its inputs, so a call after a crash recognises its own branch. The
 * user's work tree, index and HEAD are not touched.
 *
 * Objects go through a pipe (`pack-objects` here, `index-pack` there) and not by `fetch`: on a root host the writing half runs as
 * the owner of the repository, who cannot read the data directory, and leaves no root-owned files in a user's `.git`. A shallow
 * shadow repository, which a fetch might refuse or spread, does not matter to a pipe either.
 */
export async function publishGit(deps: Deps, input: Input): Promise<PublishResult> {
  const { record, folder } = input;
  const gitDir = record.origin ?? '';
  const base = record.base_commit ?? '';
  const branch = `refs/heads/holdpoint/${folder.runId}`;
  const owner = ownerOf(deps, gitDir);
  if (owner === undefined) return conflict(gitDir, 'source_missing', 'The repository is not where it was.');

  const out = await writeOut(deps, input, base);
  deps.onPoint('publish-git.commit');
  const source: Source = { gitDir, as: owner.as };
  const published: PublishResult = {
    status: 'published',
    published: { type: 'git', path: record.source.type === 'git' ? record.source.path : gitDir, branch, commit: out },
  };
  const before = await readBranch(deps, source, branch);
  if (before === out) return published;
  if (before !== undefined) return conflict(branch, 'branch_moved', `The branch exists already, at ${before}.`);
  if (!(await hasCommit(deps, source, base))) {
    return conflict(gitDir, 'source_missing', `The commit ${base} that the run started from is gone.`);
  }
  await sendObjects(deps, { folder, source, out, base });
  deps.onPoint('publish-git.objects');
  await update(deps, source, [`refs/holdpoint/${folder.runId}/out`, out]);
  deps.onPoint('publish-git.ref');
  const moved = await createBranch(deps, source, { branch, out });
  deps.onPoint('publish-git.branch');
  return moved === undefined ? published : conflict(branch, 'branch_moved', moved);
}

interface Source {
  gitDir: string;
  as: { uid: number; gid: number } | undefined;
}

/** Who the repository belongs to; undefined when it is gone. */
function ownerOf(deps: Deps, gitDir: string): { as: Source['as'] } | undefined {
  try {
    const { uid, gid } = statSync(gitDir);
    return { as: deps.isRoot && uid !== 0 ? { uid, gid } : undefined };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Writes the published commit into the shadow repository: the base commit is its parent, the snapshot's tree its tree. */
async function writeOut(deps: Deps, input: Input, base: string): Promise<string> {
  const { folder, record } = input;
  const state = deps.states.of(folder);
  const snapshot = await loadSnapshot(deps, { folder, state, id: input.snapshot });
  const before = await loadTree(deps, { folder, state, treeish: `${base}^{tree}` });
  let root: Folder = snapshot.root;
  for (const path of snapshot.manifest.skipped.keys()) {
    const names = path.split('/');
    const old = find(before.root, names);
    if (old !== find(root, names)) root = withEntry(root, names, old);
  }
  for (const { path, oid } of before.submodules) {
    const names = path.split('/');
    const now = find(root, names);
    const untouched = now === undefined || (isFolder(now) && now.entries.size === 0);
    if (untouched && isReachable(root, names)) root = withEntry(root, names, { mode: modes.submodule, oid });
  }
  const writer = createObjectWriter({ gitDir: folder.shadow, known: state.known });
  const message = input.message.trim() || `Holdpoint run ${folder.runId}`;
  const out = writer.commit({ tree: writer.root(root), parent: base, seconds: record.created_at, message });
  await writer.flush();
  await writeRef(folder.shadow, `refs/holdpoint/out/${out}`, out);
  return out;
}

/** Whether no file stands where a folder on the way would have to be. */
function isReachable(root: Folder, names: readonly string[]): boolean {
  return names.every((_, index) => {
    const entry = find(root, names.slice(0, index));
    return entry === undefined || isFolder(entry);
  });
}

async function readBranch(deps: Deps, source: Source, ref: string): Promise<string | undefined> {
  const { at, options } = inside(source);
  const { code, stdout } = await deps.git.run([...at, 'rev-parse', '--verify', '--quiet', ref], {
    ...options,
    accept: [0, 1],
  });
  return code === 0 ? stdout.toString('latin1').trim() : undefined;
}

async function hasCommit(deps: Deps, source: Source, commit: string): Promise<boolean> {
  const { at, options } = inside(source);
  const { code } = await deps.git.run([...at, 'cat-file', '-e', `${commit}^{commit}`], {
    ...options,
    accept: [0, 1, 128],
  });
  return code === 0;
}

async function sendObjects(
  deps: Deps,
  input: { folder: RunFolder; source: Source; out: string; base: string },
): Promise<void> {
  const pack = deps.git.stream([`--git-dir=${input.folder.shadow}`, 'pack-objects', '--revs', '--stdout', '-q']);
  pack.stdin.end(`${input.out}\n^${input.base}\n`);
  const { at, options } = inside(input.source);
  const index = deps.git.stream([...at, 'index-pack', '--stdin', '--strict'], options);
  index.stdin.on('error', () => {});
  index.stdout.resume();
  pack.stdout.pipe(index.stdin);
  try {
    // The reader's own complaint says more than the broken pipe of the writer.
    await index.done;
    await pack.done;
  } finally {
    // Whichever is left would wait for the other for ever.
    pack.kill();
    index.kill();
  }
}

/** Creates the branch if it does not exist. Answers with the reason when something else has taken its place. */
async function createBranch(
  deps: Deps,
  source: Source,
  input: { branch: string; out: string },
): Promise<string | undefined> {
  try {
    await update(deps, source, [input.branch, input.out, '0'.repeat(40)]);
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== 'EGITFAILED') throw error;
    const now = await readBranch(deps, source, input.branch);
    if (now === input.out) return undefined;
    if (now !== undefined) return `The branch exists already, at ${now}.`;
    if (/cannot lock ref.*exists/s.test(error.message)) return error.message;
    throw error;
  }
}

async function update(deps: Deps, source: Source, args: readonly string[]): Promise<void> {
  const { at, options } = inside(source);
  await deps.git.run([...at, 'update-ref', '--create-reflog', '-m', 'holdpoint: publish', ...args], options);
}

/**
 * git as the owner of the repository. It enters the git directory before it changes its user and then names it by
 * `/proc/self/cwd`, so that folders above it which the owner may not enter (a root home) do not matter; a plain `.` does not do,
 * because git writes refs by absolute path.
 */
function inside(source: Source): { at: string[]; options: GitOptions } {
  if (source.as === undefined) return { at: [`--git-dir=${source.gitDir}`], options: {} };
  const gitDir = process.platform === 'linux' ? '/proc/self/cwd' : source.gitDir;
  // The owner may not reach the data directory, where git's configuration lies; it needs none for a repository of its own.
  const options = { as: source.as, cwd: source.gitDir, env: { GIT_CONFIG_GLOBAL: '/dev/null' } };
  return { at: [`--git-dir=${gitDir}`], options };
}

function conflict(path: string, reason: Conflict['reason'], detail: string): PublishResult {
  return { status: 'conflict', conflicts: [{ path, reason, detail }] };
}

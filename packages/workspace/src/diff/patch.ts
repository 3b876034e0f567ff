import { isUtf8 } from 'node:buffer';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileCounts, FileDiff } from '@holdpoint/contract';
import { type Deps, type DiffRequest, WorkspaceError } from '../deps.ts';
import { fromText, toText, writeDurably } from '../files/index.ts';
import { changedPaths } from '../host-git/changed-paths.ts';
import { diffTree } from '../host-git/diff-tree.ts';
import { findDamaged, isDamage } from '../host-git/find-damaged.ts';
import { blobSizes } from '../host-git/stream-blobs.ts';
import { requireRecord, runFolder } from '../run-folder/index.ts';
import type { Change, Leaf } from '../store/objects/index.ts';
import { oidsOf, type Review, reviewChanges, within } from './review.ts';

/** Paths named in an error. */
const mostNamed = 20;

/** Tries without a check first; after a failure for damage, again with the ids of the damaged blobs among the changes. */
export async function despiteDamage<T>(
  deps: Deps,
  request: DiffRequest,
  work: (damaged: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  try {
    return await work(new Set());
  } catch (error) {
    const { damaged } = await damagedChanges(deps, request, error);
    if (damaged.size === 0) throw error;
    return work(damaged);
  }
}

/** After a failure for damage: names the damaged files. */
async function nameDamaged<T>(deps: Deps, request: DiffRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { changes } = await damagedChanges(deps, request, error);
    if (changes.length === 0) throw error;
    const names = changes.slice(0, mostNamed).map(({ path }) => toText(path));
    const more = changes.length > mostNamed ? ` and ${changes.length - mostNamed} more` : '';
    const text = `The content of ${names.join(', ')}${more} is lost or damaged in the store of the run. The diff as JSON shows the other files, and a patch can be requested for a single path.`;
    throw new WorkspaceError('EWORKSPACECORRUPT', text, { cause: error });
  }
}

async function damagedChanges(deps: Deps, request: DiffRequest, error: unknown) {
  if (!isDamage(error)) throw error;
  const folder = runFolder(deps.dataDir, request.runId);
  const { from, to, path } = request;
  const listed = await changedPaths(deps, { folder, from, to }).catch((cause: unknown) => {
    throw isTreeLost(cause) ? new WorkspaceError('EWORKSPACECORRUPT', lostTree(cause), { cause }) : error;
  });
  const isWanted = within(path);
  const changes = listed.filter((change) => isWanted(change.path));
  const damaged = await findDamaged(deps, { gitDir: folder.shadow, oids: changes.flatMap(oidsOf) });
  return { damaged, changes: changes.filter((change) => oidsOf(change).some((oid) => damaged.has(oid))) };
}

/** Names the damaged files of a change set that is to be published. */
export const nameDamagedOf = <T>(deps: Deps, { runId, snapshot }: Published, work: () => Promise<T>): Promise<T> => {
  const { base } = requireRecord(runFolder(deps.dataDir, runId));
  return nameDamaged(deps, { runId, from: base, to: snapshot }, work);
};

interface Published {
  runId: string;
  snapshot: string;
}

const isTreeLost = (error: unknown): error is WorkspaceError =>
  isDamage(error) && /unable to read|is corrupt|bad object|could not read|bad tree/.test(String(error));

const lostTree = (error: WorkspaceError): string =>
  `A folder of a snapshot is lost or damaged in the store of the run, so its files cannot be listed: ${error.message}`;

/** Adds the unreadable files at their places: git lists files by the bytes of their paths. */
export function withUnreadable<File extends FileCounts>(
  files: File[],
  unreadable: readonly Change[],
  shown: (file: FileDiff) => File,
): File[] {
  if (unreadable.length === 0) return files;
  const keyed = [...files, ...unreadable.map((change) => shown(unreadableFile(change)))].map((file) => ({
    file,
    path: fromText(file.path),
  }));
  return keyed.sort((a, b) => (a.path < b.path ? -1 : 1)).map(({ file }) => file);
}

const modeOf = (leaf: Leaf | null): string | null => (leaf === null ? null : leaf.mode.toString(8));

function unreadableFile({ path, old, new: now }: Change): FileDiff {
  const { code, message, next } = new WorkspaceError(
    'EWORKSPACECORRUPT',
    'A version of this file is lost or damaged in the store of the run.',
  );
  return {
    path: toText(path),
    status: old === null ? 'added' : now === null ? 'deleted' : 'modified',
    ...{ old_mode: modeOf(old), new_mode: modeOf(now) },
    ...{ binary: false, additions: 0, deletions: 0, hunks: [] },
    unreadable: { code, message, next },
  };
}

/**
 * A patch for `git apply`. The patch is UTF-8, so a file with other bytes becomes a binary patch: exact ASCII instead of text corrupted by
 * decoding. A lost or damaged object refuses the whole patch: applied without its file, a patch would be another change.
 */
export const patchSnapshots = (deps: Deps, request: DiffRequest): Promise<Buffer> =>
  nameDamaged(deps, request, () => exactPatch(deps, request));

async function exactPatch(deps: Deps, request: DiffRequest): Promise<Buffer> {
  using review = await reviewChanges(deps, request);
  await refuseLarge(deps, review);
  const options = { flags: ['--binary'], maxBytes: deps.limits.diffBytes };
  const input = { ...review, path: request.path };
  const files = await diffTree(deps, input, options);
  if (files.every((file) => file.sections.every((section) => isUtf8(section)))) {
    return Buffer.concat(files.flatMap((file) => file.sections));
  }
  const binary = await diffTree(deps, input, { ...options, attributesFrom: await binaryView(deps) });
  const sections = files.flatMap((file, index) => {
    return file.sections.every((section) => isUtf8(section)) ? file.sections : (binary[index]?.sections ?? []);
  });
  return Buffer.concat(sections);
}

/** git reads a whole file for a binary patch, so a file larger than the limit of a patch is refused first. */
async function refuseLarge(deps: Deps, { folder, changes }: Review): Promise<void> {
  const leaves = changes.flatMap(({ old, new: now }) => [old, now]).filter((leaf) => leaf !== null);
  const sizes = await blobSizes(deps, { gitDir: folder.shadow, oids: leaves.map(({ oid }) => oid) });
  const isLarge = ({ old, new: now }: Change) =>
    [old, now].some((leaf) => (sizes.get(leaf?.oid ?? '') ?? 0) > deps.limits.diffBytes);
  const large = changes.find(isLarge);
  if (large === undefined) return;
  throw new WorkspaceError('EDIFFTOOLARGE', `${toText(large.path)} is too large for a patch.`);
}

/**
 * A repository without objects, with attributes to mark every file as binary. With the objects of a run as alternates, git writes binary
 * patches inside this repository. `core.bigFileThreshold=1` does not work, because `--binary` reads the files before it checks their size.
 */
async function binaryView(deps: Deps): Promise<string> {
  const path = join(deps.dataDir, 'git', 'as-binary.git');
  const attributes = join(path, 'info', 'attributes');
  if (existsSync(attributes)) return path;
  await deps.git.run(['init', '-q', '--bare', '--template=', '--initial-branch=none', '--object-format=sha1', path]);
  mkdirSync(dirname(attributes), { recursive: true });
  await writeDurably(attributes, '* -diff\n', 0o644);
  return path;
}

import type { Call, Compared, Deps } from '../deps.ts';
import { toText } from '../files/index.ts';
import { isSameSkip, requireRecord, runFolder } from '../run-folder/index.ts';
import { changesBetween, emptyFolder, find } from '../store/objects/index.ts';
import * as tree from '../tree/index.ts';

/** All differences of two snapshots by path: files, permission bits, empty folders, `.git` entries, and files outside of every snapshot. */
export async function compareSnapshots(deps: Deps, { runId, from, to, most }: Call<'compare'>): Promise<Compared> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  const state = deps.states.of(folder);
  const before = await tree.loadSnapshot(deps, { folder, state, id: from });
  const after = await tree.loadSnapshot(deps, { folder, state, id: to });
  const repositories = await Promise.all(
    [before, after].map((snapshot) => tree.loadRepositories(deps, { folder, state, snapshot })),
  );
  const sorted = changesOf(before, after, repositories);
  return {
    changes: sorted.slice(0, most).map(([path, change]) => ({ path: toText(path), change })),
    total: sorted.length,
  };
}

type Shape = Pick<tree.LoadedSnapshot, 'root' | 'manifest'>;
type Change = Compared['changes'][number]['change'];

/** Every different path, sorted. @param repositories the `.git` entries of both */
export function changesOf(
  before: Shape,
  after: Shape,
  repositories: readonly (tree.FoundRepositories | undefined)[],
): [path: string, change: Change][] {
  const found = new Map<string, Change>();
  for (const path of shapeChanges(before, after)) found.set(path, 'modified');
  for (const path of emptyOnlyIn(before, after)) found.set(path, 'deleted');
  for (const path of emptyOnlyIn(after, before)) found.set(path, 'added');
  for (const { path, old, new: now } of changesBetween(before.root, after.root)) {
    found.set(path, old === null ? 'added' : now === null ? 'deleted' : 'modified');
  }
  const [old, now] = repositories.map((one) => one?.root);
  for (const change of changesBetween(old, now ?? emptyFolder())) found.set(change.path, 'modified');
  for (const path of skipChanges(before, after)) found.set(path, 'unknown');
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Paths in both snapshots with different permission bits. */
function shapeChanges(before: Shape, after: Shape): string[] {
  const [old, now] = [before.manifest.permissions, after.manifest.permissions];
  return [...new Set([...old.others.keys(), ...now.others.keys()])].filter((path) => {
    const names = path.split('/');
    const [was, is] = [find(before.root, names), find(after.root, names)];
    const [kind, kindNow] = [was && tree.kindOf(was), is && tree.kindOf(is)];
    if (kind === undefined || kindNow === undefined) return false;
    return tree.permissionsAt(old, path, kind) !== tree.permissionsAt(now, path, kindNow);
  });
}

function emptyOnlyIn(one: Shape, other: Shape): string[] {
  const others = new Set(other.manifest.empty);
  return one.manifest.empty.filter((path) => !others.has(path));
}

function skipChanges(before: Shape, after: Shape): string[] {
  const [old, now] = [before.manifest.skipped, after.manifest.skipped];
  return [...new Set([...old.keys(), ...now.keys()])].filter((path) => !isSameSkip(old.get(path), now.get(path)));
}

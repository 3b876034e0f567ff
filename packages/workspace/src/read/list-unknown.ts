import type { UnknownContent } from '@holdpoint/contract';
import { type Call, type Deps, type SnapshotId, WorkspaceError } from '../deps.ts';
import { type BytePath, fromText, isWithin, toText } from '../files/index.ts';
import { isSameSkip, requireRecord, runFolder, type Skipped } from '../run-folder/index.ts';
import { assertSnapshot, type Manifest, readManifests } from '../tree/index.ts';

/** The paths whose content a snapshot could not hold, in byte order. */
export async function listUnknown(
  deps: Deps,
  { runId, snapshot, since, path }: Call<'unknown'>,
): Promise<UnknownContent[]> {
  requireRecord(runFolder(deps.dataDir, runId));
  const { skipped } = await manifestOf(deps, { runId, snapshot });
  const before = since === undefined ? undefined : (await manifestOf(deps, { runId, snapshot: since })).skipped;
  const at = path === undefined ? '' : checkedPath(path);
  return [...skipped]
    .filter(([name, skip]) => isWithin(name, at) && (before === undefined || !isSameSkip(before.get(name), skip)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, skip]) => unknownAt(name, skip));
}

export async function manifestOf(
  deps: Deps,
  { runId, snapshot }: { runId: string; snapshot: SnapshotId },
): Promise<Manifest> {
  const folder = runFolder(deps.dataDir, runId);
  assertSnapshot(folder, snapshot);
  const [manifest] = await readManifests(deps, { folder, state: deps.states.of(folder), ids: [snapshot] });
  if (manifest === undefined) throw new TypeError(`the snapshot ${snapshot} has no manifest`);
  return manifest;
}

const unknownAt = (path: string, { reason, bytes, mtime }: Skipped): UnknownContent => ({
  path: toText(path),
  reason,
  bytes,
  modified_at: modifiedAt(mtime) ?? null,
});

/** Undefined when unknown, or when a command set a time outside the range of dates. */
export function modifiedAt(mtime: string): string | undefined {
  const milliseconds = Number(BigInt(mtime) / 1_000_000n);
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  return mtime === '0' || !(year >= 0 && year <= 9999) ? undefined : date.toISOString();
}

/** Parses a path of the port. Paths only name entries of tree objects, so a path out of the tree is a mistake, not an attack. */
export function checkedPath(path: string): BytePath {
  const bytes = fromText(path);
  const names = bytes.split('/').filter((name) => name !== '' && name !== '.');
  if (bytes.startsWith('/') || bytes.includes('\0') || names.includes('..')) {
    throw new WorkspaceError('EPATHINVALID', `${JSON.stringify(path)} is not inside the workspace.`);
  }
  return names.join('/');
}

import { join } from 'node:path';
import { ForbiddenChange, type PreparedFrom } from '@holdpoint/contract';
import { type Call, type Deps, errnoOf, type RunFolder, type Snapshot } from '../deps.ts';
import { assertFreeSpace, fromText, linkFile, syncPath, toText } from '../files/index.ts';
import { assertCurrent, requireRecord, runFolder } from '../run-folder/index.ts';
import { restoreSnapshot } from '../snapshots/restore.ts';
import { commitTree } from '../snapshots/snapshot.ts';
import { noteUse } from '../store/keyed/index.ts';
import * as objects from '../store/objects/index.ts';
import { kindOf, type LoadedSnapshot, loadSnapshot, loadTree, type Permissions, permissionsAt } from '../tree/index.ts';
import { type Entry, entryFolder, packFile, preparedKind, removePrepared, soundEntry } from './entry.ts';
import { placeFolders, readTimes } from './place-folders.ts';

type Applied = Snapshot & { made_from?: PreparedFrom | undefined };

/**
 * Brings the tree from the parent to an earlier run's kept preparation: its objects are linked, the changes are made in the parent's tree
 * in memory, new folders are written aside and renamed into the tree, and the other files are written. A damaged entry goes to the trash,
 * and an entry unfit for the files of this run is removed: this run keeps its own preparation.
 */
export async function applyPrepared(deps: Deps, input: Call<'applyPrepared'>): Promise<Applied | undefined> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  assertCurrent(folder);
  if (deps.limits.preparedBytes === 0) return undefined;
  const place = entryFolder(deps.dataDir, input);
  const entry = await soundEntry(deps, place, input.key);
  if (entry === undefined) return undefined;
  const state = deps.states.of(folder);
  const parent = await loadSnapshot(deps, { folder, state, id: input.parent });
  const isOther = entry.source !== undefined && entry.source !== parent.tree;
  const overlay = isOther ? undefined : await linked(deps, { folder, place, entry });
  const root = overlay && withChanges(parent.root, entry, overlay);
  if (overlay === undefined || root === undefined) {
    await removePrepared(deps, place);
    return undefined;
  }
  const times = readTimes(place);
  const mtimeOf = (path: string) => times.get(path);
  // Another process may have removed the entry: its objects are linked already.
  noteUse(deps, preparedKind, place);
  const manifest = { ...parent.manifest, permissions: withPermissions(parent, { entry, overlay, root }) };
  if (input.forbids !== undefined) {
    const forbidden = objects
      .changesBetween(parent.root, root)
      .map(({ path }) => toText(path))
      .filter(input.forbids);
    if (forbidden.length > 0) throw new ForbiddenChange(forbidden);
  }
  const writer = objects.createObjectWriter({
    gitDir: folder.shadow,
    known: state.known,
    assertSpace: () => assertFreeSpace(deps),
  });
  const snapshot = await commitTree(deps, {
    ...{ folder, state, writer, root, parent, message: 'prepare', seconds: record.created_at },
    manifest: { ...manifest, empty: objects.emptyFolders(root) },
  });
  deps.onPoint('prepared.committed');
  const { permissions } = manifest;
  const known = await placeFolders(deps, { folder, record, state, parent, root, permissions, mtimeOf });
  await restoreSnapshot(deps, { runId: input.runId, epoch: input.epoch, snapshot: snapshot.id, known, mtimeOf });
  deps.onPoint('prepared.applied');
  return { ...snapshot, made_from: entry.made_from };
}

/** The tree of the entry, whose objects the run has from now on; undefined when the entry was removed at this moment. */
async function linked(
  deps: Deps,
  { folder, place, entry }: { folder: RunFolder; place: string; entry: Entry },
): Promise<objects.Folder | undefined> {
  const { pack, tree } = entry;
  if (pack === undefined || tree === null) return objects.emptyFolder();
  const packs = join(folder.shadow, 'objects', 'pack');
  try {
    for (const kind of ['pack', 'idx'] as const) {
      await linkFile(packFile(place, pack.name, kind), packFile(packs, pack.name, kind));
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
  await syncPath(packs);
  return (await loadTree(deps, { folder, state: deps.states.of(folder), treeish: tree })).root;
}

/** The parent's tree with the changes; undefined when a replaced file differs from the entry's record. */
function withChanges(parent: objects.Folder, entry: Entry, overlay: objects.Folder): objects.Folder | undefined {
  const before = new Map(
    entry.before.map(({ path, mode, oid, removed }) => {
      const leaf: objects.Leaf = { mode: objects.canonicalMode(mode.toString(8)), oid };
      return [fromText(path), { leaf, removed }] as const;
    }),
  );
  for (const [path, { leaf }] of before)
    if (!objects.isSame(objects.find(parent, path.split('/')), leaf)) return undefined;
  const gone = [...before].filter(([, { removed }]) => removed);
  const { root: left } = objects.applyChanges(
    parent,
    gone.map(([path, { leaf }]) => ({ path, old: leaf, new: null })),
  );
  const laid = lay(left, overlay, { path: '', replaces: (path) => before.has(path) });
  if (laid === undefined) return undefined;
  return entry.empty.map(fromText).reduce((root, path) => {
    const names = path.split('/');
    return objects.find(root, names) === undefined
      ? objects.withEntry(root, names, { entries: new Map(), oid: null })
      : root;
  }, laid);
}

/** A tree over another. Both stay as they are. */
function lay(
  under: objects.Entry | undefined,
  over: objects.Folder,
  at: { path: string; replaces: (path: string) => boolean },
): objects.Folder | undefined {
  if (under === undefined) return over;
  if (!objects.isFolder(under)) return undefined;
  const entries = new Map(under.entries);
  for (const [name, entry] of over.entries) {
    const path = at.path === '' ? name : `${at.path}/${name}`;
    const old = entries.get(name);
    const next = objects.isFolder(entry) ? lay(old, entry, { ...at, path }) : entry;
    if (next === undefined) return undefined;
    if (!objects.isFolder(entry) && old !== undefined && !objects.isSame(old, entry) && !at.replaces(path))
      return undefined;
    entries.set(name, next);
  }
  return { entries };
}

/** The permissions of the parent, and the entry's permissions for its files. */
function withPermissions(
  { manifest, root: before }: LoadedSnapshot,
  { entry, overlay, root }: { entry: Entry; overlay: objects.Folder; root: objects.Folder },
): Permissions {
  const { usual, others } = manifest.permissions;
  const { permissions } = entry;
  const kept = {
    usual: permissions.usual,
    others: new Map(permissions.others.map(([path, mode]) => [fromText(path), mode])),
  };
  const merged = new Map([...others].filter(([path]) => objects.find(root, path.split('/')) !== undefined));
  const visit = (folder: objects.Folder, path: string): void => {
    for (const [name, one] of folder.entries) {
      const below = path === '' ? name : `${path}/${name}`;
      const kind = kindOf(one);
      const isNew = !objects.isFolder(one) || !objects.isFolder(objects.find(before, below.split('/')));
      if (kind !== undefined && isNew) {
        const mode = permissionsAt(kept, below, kind);
        if (mode === usual[kind]) merged.delete(below);
        else merged.set(below, mode);
      }
      if (objects.isFolder(one)) visit(one, below);
    }
  };
  visit(overlay, '');
  for (const path of entry.empty.map(fromText)) {
    const mode = permissionsAt(kept, path, 'folder');
    if (mode !== usual.folder) merged.set(path, mode);
  }
  return { usual, others: merged };
}

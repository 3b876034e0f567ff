import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, Deps, ObjectWriter } from '../deps.ts';
import { assertFreeSpace, syncPath, toText, writeDurably } from '../files/index.ts';
import { bigFileFlags } from '../host-git/git.ts';
import { newlySkipped } from '../publish/index.ts';
import { type RunFolder, requireRecord, runFolder } from '../run-folder/index.ts';
import { beginEntry } from '../store/keyed/index.ts';
import * as objects from '../store/objects/index.ts';
import { type LoadedSnapshot, loadSnapshot } from '../tree/index.ts';
import { bindingOf, madeFrom } from './binding.ts';
import * as preparedEntry from './entry.ts';
import { writeTimes } from './place-folders.ts';

/**
 * Keeps the differences between the source and the tree after `prepare`. When two processes keep the same key, the first wins.
 * @returns false for unkeepable differences: with repositories, with files outside of every snapshot, or larger than the whole permitted amount
 */
export async function keepPrepared(deps: Deps, input: Call<'keepPrepared'>): Promise<boolean> {
  const { runId, tenant, key, from, to } = input;
  const folder = runFolder(deps.dataDir, runId);
  const record = requireRecord(folder);
  if (deps.limits.preparedBytes === 0) return false;
  const state = deps.states.of(folder);
  const before = await loadSnapshot(deps, { folder, state, id: from });
  const after = await loadSnapshot(deps, { folder, state, id: to });
  if (before.manifest.repositories !== after.manifest.repositories || newlySkipped(before, after).size > 0)
    return false;
  await using build = beginEntry(deps, preparedEntry.preparedKind);
  const aside = build.path;
  const changes = objects.changesBetween(before.root, after.root);
  const overlay = overlayOf(before.root, after.root) ?? objects.emptyFolder();
  const packed = await pack(deps, { folder, overlay, aside });
  if (packed !== undefined && packed.bytes > deps.limits.preparedBytes) return false;
  writeTimes(aside, overlay, state.stats.mtimeOf);
  const binding = await bindingOf(deps, { folder, snapshot: before });
  const entry: preparedEntry.Entry = {
    ...{ format: 1, key, tree: packed?.tree ?? null },
    ...(binding === 'tree' && { source: before.tree }),
    times: await preparedEntry.fileDigest(join(aside, 'times')),
    made_from: madeFrom(record, before, { binding, at: deps.now() }),
    before: changes.flatMap(beforeOf),
    ...{ empty: newEmptyFolders(before, after), permissions: permissionsOf(after) },
    ...(packed && { pack: packed.pack }),
  };
  await writeDurably(preparedEntry.entryFile(aside), preparedEntry.writeEntry(entry));
  const at = preparedEntry.entryFolder(deps.dataDir, { tenant, key });
  await build.place(at, {
    isSound: async () => (await preparedEntry.soundEntry(deps, at, key)) !== undefined,
    isTorn: () => preparedEntry.isTorn(at, key),
  });
  await preparedEntry.evictPrepared(deps);
  return true;
}

const beforeOf = ({ path, old, new: now }: objects.Change): preparedEntry.Entry['before'] =>
  old === null ? [] : [{ path: toText(path), mode: old.mode, oid: old.oid, removed: now === null }];

const newEmptyFolders = (before: LoadedSnapshot, after: LoadedSnapshot): string[] => {
  const known = new Set(before.manifest.empty);
  return after.manifest.empty.filter((path) => !known.has(path)).map(toText);
};

function permissionsOf({ manifest: { permissions } }: LoadedSnapshot): preparedEntry.Entry['permissions'] {
  return { usual: permissions.usual, others: [...permissions.others].map(([path, mode]) => [toText(path), mode]) };
}

/** The files of `to` missing in `from`, in their folders. A wholly new folder is the same object, with its id. */
function overlayOf(from: objects.Entry | undefined, to: objects.Folder): objects.Folder | undefined {
  if (!objects.isFolder(from)) return to;
  if (typeof from.oid === 'string' && from.oid === to.oid) return undefined;
  const entries: objects.Folder['entries'] = new Map();
  for (const [name, entry] of to.entries) {
    const old = from.entries.get(name);
    if (objects.isSame(old, entry)) continue;
    const below = objects.isFolder(entry) ? overlayOf(old, entry) : entry;
    if (below !== undefined) entries.set(name, below);
  }
  return entries.size === 0 ? undefined : { entries };
}

async function pack(
  deps: Deps,
  { folder, overlay, aside }: { folder: RunFolder; overlay: objects.Folder; aside: string },
): Promise<{ tree: string; bytes: number; pack: NonNullable<preparedEntry.Entry['pack']> } | undefined> {
  assertFreeSpace(deps);
  const writer: ObjectWriter = objects.createObjectWriter({
    gitDir: folder.shadow,
    known: deps.states.of(folder).known,
  });
  const tree = await writer.root(overlay);
  if (overlay.oid === null) return undefined;
  await writer.flush();
  const settings = [...bigFileFlags, '-c', 'pack.threads=1'];
  const { stdout } = await deps.git.run(
    [...settings, `--git-dir=${folder.shadow}`, 'pack-objects', '-q', '--window=0', join(aside, 'pack')],
    { input: `${[...idsIn(overlay)].join('\n')}\n` },
  );
  const name = stdout.toString('latin1').trim();
  const [packed, index] = [preparedEntry.packFile(aside, name, 'pack'), preparedEntry.packFile(aside, name, 'idx')];
  await Promise.all([syncPath(packed), syncPath(index)]);
  const bytes = statSync(packed).size + statSync(index).size;
  return {
    tree,
    bytes,
    pack: { name, bytes, pack: await preparedEntry.fileDigest(packed), index: await preparedEntry.fileDigest(index) },
  };
}

function idsIn(folder: objects.Folder, found = new Set<string>()): Set<string> {
  if (typeof folder.oid === 'string') found.add(folder.oid);
  for (const entry of folder.entries.values()) {
    if (objects.isFolder(entry)) idsIn(entry, found);
    else found.add(entry.oid);
  }
  return found;
}

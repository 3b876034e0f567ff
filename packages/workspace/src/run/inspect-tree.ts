import { type Call, type Deps, type SnapshotId, type TreeState, WorkspaceError } from '../deps.ts';
import { isTreeLost, useTree } from '../drivers/trees.ts';
import * as folders from '../run-folder/index.ts';
import { countChanges, emptyFolders } from '../store/objects/index.ts';
import * as trees from '../tree/index.ts';

/** Compares a tree with the log, and mounts it. @param compare reads the files, when the head is not enough */
export async function inspectTree(
  deps: Deps,
  input: Call<'inspect'>,
  compare: () => Promise<TreeState>,
): Promise<TreeState> {
  try {
    const state = inspectHead(deps, input) ?? (await compare());
    if (state.status === 'sound') await useTree(deps, folders.runFolder(deps.dataDir, input.runId, input.epoch));
    return state;
  } catch (error) {
    if (isTreeLost(error)) return lost('tree_changed', error.message);
    throw error;
  }
}

/**
 * Compares the head of a tree with the log: reads one folder, 15 µs.
 *
 * @returns undefined when the files must be compared: the process that admitted the last writer is gone, or a writer comes after a time in
 * which another program could change them
 */
function inspectHead(deps: Pick<Deps, 'dataDir' | 'holder' | 'looks'>, input: Call<'inspect'>): TreeState | undefined {
  const folder = folders.runFolder(deps.dataDir, input.runId, input.epoch);
  const head = folders.readHead(folder);
  if (head === undefined || head.epoch !== input.epoch) return lostWithoutHead(folder);
  if (head.boot !== deps.holder.boot) {
    return lost('other_boot', 'The machine was rebooted after the tree was written.');
  }
  if (head.writer !== input.writer) {
    return lost(
      'log_went_back',
      `The last writer of the tree was ${name(head.writer)}; the log says ${name(input.writer)}.`,
    );
  }
  if (input.isShared) return sound;
  if (head.process === deps.holder.process) {
    const isDue = deps.looks.isDue(folder);
    return isDue && input.forWriter === true ? undefined : sound;
  }
  return folders.isRunning(head.process) === true ? sound : undefined;
}

/** Compares the files of a tree with a snapshot. When they are equal, this process guards the tree from now on. */
export async function inspectFiles(deps: Deps, input: Call<'inspect'>): Promise<TreeState> {
  const folder = folders.runFolder(deps.dataDir, input.runId, input.epoch);
  // Calls that waited for the same look.
  const known = inspectHead(deps, input);
  if (known !== undefined) return known;
  const began = performance.now();
  const difference = await differenceFrom(deps, folder, input.snapshot);
  if (difference !== undefined) return lost('tree_changed', difference);
  deps.looks.looked(folder, performance.now() - began);
  const head = folders.readHead(folder);
  if (head?.epoch === input.epoch && head.writer === input.writer) adopt(folder, head, deps.holder);
  return sound;
}

const sound: TreeState = { status: 'sound' };
const lost = (reason: Extract<TreeState, { status: 'lost' }>['reason'], detail: string): TreeState => ({
  status: 'lost',
  reason,
  detail,
});

const name = (writer: string): string => (writer === '' ? 'no writer' : writer);

function lostWithoutHead(folder: folders.RunFolder): TreeState {
  // Throws when the whole workspace is gone: then no new tree can be built either.
  folders.requireRecord(folder);
  const newest = folders.highestEpoch(folder.path);
  if (newest <= folder.epoch) return lost('tree_changed', `The tree ${folder.epoch} has no head.`);
  return lost('log_went_back', `The newest tree is ${newest}; the log says ${folder.epoch}.`);
}

function adopt(folder: folders.RunFolder, head: folders.TreeHead, holder: Deps['holder']): void {
  try {
    folders.moveHead(folder, head, { ...head, ...holder });
  } catch (error) {
    // Another process adopted the tree or admitted a writer, and guards it.
    if (!(error instanceof WorkspaceError && error.code === 'EHEADMOVED')) throw error;
  }
}

/** How the files differ from the snapshot, as a sentence; undefined when they do not. Skipped paths are not compared. */
async function differenceFrom(
  deps: Deps,
  folder: folders.RunFolder,
  snapshot: SnapshotId,
): Promise<string | undefined> {
  if (folders.currentEpoch(folder.path) !== folder.epoch) return `The tree ${folder.epoch} is missing.`;
  const state = deps.states.of(folder);
  const target = await trees.loadSnapshot(deps, { folder, state, id: snapshot });
  // A background command may start during this walk.
  const scan = trees.startScan(deps, { folder, state, content: trees.hashOnly, learn: false });
  const tree = await useTree(deps, folder);
  using top = tree.open();
  const known = trees.knownRoot(target);
  const root = await tree.scan({ state, scan, top }, known);
  const changed = countChanges(known, root);
  if (changed > 0) return `${changed} ${changed === 1 ? 'path differs' : 'paths differ'} from the snapshot.`;
  const isSameShape = emptyFolders(root).join('\0') === emptyFolders(known).join('\0');
  if (!isSameShape) return 'The empty folders differ from those of the snapshot.';
  const repositories = await trees.loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories === undefined) return undefined;
  const found = await trees.scanRepositories(scan, { top, previous: repositories.root });
  return trees.isSameRepositories(repositories, found)
    ? undefined
    : 'A repository in the tree differs from the snapshot.';
}

/** Admits a writer to the tree, which may differ from its snapshot from now on. @throws WorkspaceError `EHEADMOVED`, `ELEASESTALE` */
export function admitWriter(deps: Pick<Deps, 'dataDir' | 'holder'>, input: Call<'admit'>): void {
  const folder = folders.runFolder(deps.dataDir, input.runId, input.epoch);
  const head = folders.readHead(folder);
  if (head === undefined || head.epoch !== input.epoch) throw folders.staleLease(folder);
  folders.moveHead(
    folder,
    { ...head, writer: input.after },
    { epoch: input.epoch, writer: input.writer, ...deps.holder },
  );
}
